/* Models that Tacit trains, as they are served: accuracy of the fit, of the program's real numbers,
 * of its integers, and of answers over loopback, which must be the integers.
 *   make bench/serve-accuracy && bench/serve-accuracy [--data ../shared/data] [--model NAME]
 *     [--privacy none|epsilon] [--epsilon E] [--delta D] [--lattice N] [--paillier N]
 *     [--fold K] [--weight-bits B] [--activation-bits B] [--keep FOLDER] [--threads N]
 *     [--in-flight N]
 * One JSON line for each model without privacy and with epsilon (4) and delta (1e-5): records of
 * training and test, whether the fit was refused as hopeless (and made all the same), the share of
 * the test's commonest class, accuracies on the whole test set, classes in which reals and integers
 * differ, most bits of a stage, and for both protocols how many test records were asked (at most
 * --lattice and --paillier; 0, the default, all of them), how many answers had the integers of
 * dp_program_run_exact to the last bit, and how many classes differed.  Of tables the records with
 * numbers --fold (4), + 5, + 10, ... are the test set. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench.h"
#include "options.h"
#include "served.h"

typedef struct settings {
    const char *folder, *only, *keep, *privacy;
    double epsilon, delta;
    uint64_t most[2]; /* records asked by Paillier's scheme, by the lattice; 0: all */
    uint64_t threads, in_flight, fold, weight_bits, activation_bits; /* bits 0: the defaults */
} settings;

/* A fit, its program, and what it says of the test set. */
typedef struct subject {
    const served_model *model;
    const served_data *data;
    served_fit fit;
    dp_program *p;
    size_t n, inputs, outputs;
    double *x, *y;     /* [n][inputs], [n][outputs] of reals */
    int64_t *expected; /* [n][outputs] of integers */
} subject;

static void lower(subject *s, const settings *o)
{
    const dp_scale_opts scales = {.weight_bits = (int)o->weight_bits,
                                  .activation_bits = (int)o->activation_bits};
    dp_error err = {0};
    s->p = served_lower(&s->fit, s->data);
    served_must(dp_program_fix(s->p, &scales, &err), "scales", &err);
    s->n = s->data->test.n;
    s->inputs = dp_program_inputs(s->p);
    s->outputs = dp_program_outputs(s->p);
}

static void run(subject *s)
{
    dp_error err = {0};
    int64_t *v = served_room(s->n * s->inputs, sizeof *v);
    s->x = served_inputs(s->p, &s->data->test);
    s->y = served_room(s->n * s->outputs, sizeof *s->y);
    s->expected = served_room(s->n * s->outputs, sizeof *s->expected);
    served_must(dp_program_run(s->p, s->n, s->x, s->y, &err), "reals", &err);
    served_must(dp_program_encode(s->p, s->n, s->x, v, &err), "integers", &err);
    served_must(dp_program_run_exact(s->p, s->n, v, s->expected, &err), "integers", &err);
    free(v);
}

/* The class of integers, or of reals where there are none. */
static int32_t class_at(const subject *s, bool exact, size_t i)
{
    return exact ? served_class_of_integers(s->outputs, s->expected + i * s->outputs)
                 : served_class_of(s->outputs, s->y + i * s->outputs);
}

static double accuracy(const subject *s, bool exact)
{
    size_t right = 0;
    for (size_t i = 0; i < s->n; i++)
        right += class_at(s, exact, i) == s->data->test.label[i];
    return (double)right / (double)s->n;
}

/* The accuracy of what the fit itself predicts of the test set. */
static double accuracy_of_fit(const subject *s)
{
    const size_t m = s->outputs;
    const served_set *test = &s->data->test;
    const dp_given given = {.data = m == 1 ? test->numbers : test->classes};
    const char *value = m == 1 ? "eta" : "logits";
    double *y = served_room(s->n * m, sizeof *y);
    size_t right = 0;
    dp_error err = {0};
    served_must(
        dp_fit_evaluate(s->fit.fit, dp_fit_expr(s->fit.fit, value), &given, s->n * m, y, &err),
        "fit", &err);
    for (size_t i = 0; i < s->n; i++)
        right += served_class_of(m, y + i * m) == test->label[i];
    free(y);
    return (double)right / (double)s->n;
}

static double commonest(const subject *s)
{
    size_t count[10] = {0}, most = 0;
    for (size_t i = 0; i < s->n; i++)
        count[s->data->test.label[i]]++;
    for (size_t k = 0; k < 10; k++)
        most = count[k] > most ? count[k] : most;
    return (double)most / (double)s->n;
}

static void ask_all(const subject *s, dp_serve_protocol protocol, const settings *o)
{
    static const char *const names[] = {"paillier", "lattice"};
    const uint64_t most = o->most[protocol];
    const size_t n = most > 0 && most < s->n ? most : s->n, size = s->outputs * sizeof(int64_t);
    size_t equal = 0, differ = 0;
    char name[40];
    int64_t *y = served_room(n * s->outputs, sizeof *y);
    served_session *session = served_open(s->p, protocol, s->model->mode, o->threads, o->in_flight);
    if (session == NULL)
        bench_stop(s->model->name, "its numbers do not fit into the protocol");
    served_ask_many(session, n, s->x, y);
    for (size_t i = 0; i < n; i++) {
        const int64_t *answer = y + i * s->outputs;
        equal += memcmp(answer, s->expected + i * s->outputs, size) == 0;
        differ += served_class_of_integers(s->outputs, answer) != class_at(s, true, i);
    }
    served_close(session);
    free(y);
    (void)snprintf(name, sizeof name, "%s_asked", names[protocol]);
    bench_number(name, (double)n);
    (void)snprintf(name, sizeof name, "%s_equal", names[protocol]);
    bench_number(name, (double)equal);
    (void)snprintf(name, sizeof name, "%s_classes_differ", names[protocol]);
    bench_number(name, (double)differ);
}

static void report(const subject *s, const settings *o)
{
    size_t differ = 0;
    for (size_t i = 0; i < s->n; i++)
        differ += class_at(s, false, i) != class_at(s, true, i);
    (void)printf("{\"model\": \"%s\", \"form\": \"%s\", ", s->model->name, s->model->form);
    bench_number("epsilon", s->fit.epsilon);
    bench_number("delta", s->fit.delta);
    bench_number("fold", (double)s->data->fold);
    bench_number("train", (double)s->data->train.n);
    bench_number("test", (double)s->n);
    bench_number("training_seconds", s->fit.seconds);
    bench_number("hopeless", s->fit.hopeless);
    bench_number("commonest", commonest(s));
    bench_number("accuracy_fit", accuracy_of_fit(s));
    bench_number("accuracy_real", accuracy(s, false));
    bench_number("accuracy_exact", accuracy(s, true));
    bench_number("classes_differ", (double)differ);
    bench_number("bits", dp_program_bits(s->p));
    ask_all(s, DP_SERVE_LATTICE, o);
    ask_all(s, DP_SERVE_PAILLIER, o);
    bench_end_line();
    (void)fflush(stdout);
}

static void measure(const served_model *m, const served_data *d, double epsilon, const settings *o)
{
    subject s = {.model = m, .data = d, .fit = served_train(m, d, epsilon, o->delta, o->keep)};
    lower(&s, o);
    run(&s);
    report(&s, o);
    free(s.x), free(s.y), free(s.expected);
    dp_program_free(s.p);
    dp_fit_free(s.fit.fit);
}

int main(int argc, char **argv)
{
    settings o = {.folder = "../shared/data", .epsilon = 4, .delta = 1e-5, .threads = 2, .fold = 4};
    const bench_option list[] = {{.name = "--data", .text = &o.folder},
                                 {.name = "--model", .text = &o.only},
                                 {.name = "--privacy", .text = &o.privacy},
                                 {.name = "--epsilon", .number = &o.epsilon},
                                 {.name = "--delta", .number = &o.delta},
                                 {.name = "--paillier", .count = &o.most[DP_SERVE_PAILLIER]},
                                 {.name = "--lattice", .count = &o.most[DP_SERVE_LATTICE]},
                                 {.name = "--fold", .count = &o.fold},
                                 {.name = "--weight-bits", .count = &o.weight_bits},
                                 {.name = "--activation-bits", .count = &o.activation_bits},
                                 {.name = "--keep", .text = &o.keep},
                                 {.name = "--in-flight", .count = &o.in_flight},
                                 {.name = "--threads", .count = &o.threads}};
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    struct stat there;
    size_t n;
    const served_model *m = served_models(&n);
    served_data d = {0};
    const char *of = "";
    if (stat(o.folder, &there) != 0)
        bench_stop(o.folder, "is not there: the data sets are not part of the distribution");
    for (size_t k = 0; k < n; k++) {
        if (o.only != NULL && strcmp(o.only, m[k].name) != 0)
            continue;
        if (strcmp(of, m[k].data) != 0) {
            served_free(&d);
            served_read(o.folder, of = m[k].data, o.fold, &d);
        }
        if (o.privacy == NULL || strcmp(o.privacy, "none") == 0)
            measure(&m[k], &d, INFINITY, &o);
        if (o.privacy == NULL || strcmp(o.privacy, "epsilon") == 0)
            measure(&m[k], &d, o.epsilon, &o);
    }
    served_free(&d);
    return 0;
}
