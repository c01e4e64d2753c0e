/* Models that Tacit trains, as they are served: accuracy of the fit, of the program's real numbers,
 * of its integers, and of answers over loopback, which must be the integers.
 *   make bench/serve-accuracy && bench/serve-accuracy [--data ../shared/data] [--model NAME]
 *     [--privacy none|epsilon] [--epsilon E] [--delta D]
 *     [--protocols lattice,paillier,trio,quad] [--lattice N] [--paillier N] [--trio N] [--quad N]
 *     [--fold K] [--weight-bits B] [--activation-bits B] [--keep FOLDER] [--threads N]
 *     [--in-flight N] [--records N] [--lanes N] [--probabilistic 1]
 * One JSON line for each model without privacy and with epsilon (4) and delta (1e-5): records of
 * training and test, whether the fit was refused as hopeless (and made all the same), the share of
 * the test's commonest class, accuracies on the whole test set, classes in which reals and integers
 * differ, most bits of a stage, and for each of --protocols (all four) how many test records were
 * asked (at most --lattice and so on; 0, the default, all of them; none where the protocol cannot
 * serve the program), how many answers had the integers of dp_program_run_exact to the last bit,
 * and how many classes differed.  Trio and Quad are asked about --records at a time (128), which
 * --lanes (1) divide among them.  Of tables the records with numbers --fold (4), + 5, + 10, ...
 * are the test set.
 * With --probabilistic 1 Trio and Quad round by chance: then how many numbers of a record do, what
 * a unit of the answer's last place stands for, how many units an answer may be off and how many
 * records may be wrong altogether by what is said of them; and of each protocol how many were
 * wrong, and by how many units the farthest of the others was off. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench.h"
#include "options.h"
#include "served.h"

enum { PROTOCOLS = 4 };

/* In the order of a line's fields. */
static const struct protocol {
    const char *name;
    size_t parties;          /* that compute; 0: a provider alone */
    dp_serve_protocol sides; /* with a provider */
} protocols[PROTOCOLS] = {{"lattice", 0, DP_SERVE_LATTICE},
                          {"paillier", 0, DP_SERVE_PAILLIER},
                          {"trio", 3, 0},
                          {"quad", 4, 0}};

typedef struct settings {
    const char *folder, *only, *keep, *privacy, *protocols;
    bool asks[PROTOCOLS];
    double epsilon, delta;
    uint64_t most[PROTOCOLS]; /* records asked; 0: all */
    uint64_t threads, in_flight, records, lanes, probabilistic;
    uint64_t fold, weight_bits, activation_bits; /* bits 0: the defaults */
} settings;

/* Which protocols a list, "trio,quad", names. */
static void choose(const char *list, bool asks[PROTOCOLS])
{
    while (*list != 0) {
        const size_t n = strcspn(list, ",");
        size_t k = 0;
        while (k < PROTOCOLS &&
               (strlen(protocols[k].name) != n || strncmp(list, protocols[k].name, n) != 0))
            k++;
        if (k == PROTOCOLS)
            bench_stop(list,
                       "--protocols are lattice, paillier, trio and quad, with commas between");
        asks[k] = true;
        list += n + (list[n] != 0);
    }
}

/* A fit, its program, and what it says of the test set. */
typedef struct subject {
    const served_model *model;
    const served_data *data;
    served_fit fit;
    dp_program *p;
    size_t n, inputs, outputs;
    double *x, *y;     /* [n][inputs], [n][outputs] of reals */
    int64_t *expected; /* [n][outputs] of integers */
    served_rounding rounding;
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

static served_session *open_session(const subject *s, size_t k, const settings *o)
{
    const struct protocol *q = &protocols[k];
    return q->parties > 0
               ? served_open_parties(s->p, q->parties, o->records, o->lanes, o->probabilistic > 0)
               : served_open(s->p, q->sides, s->model->mode, o->threads, o->in_flight);
}

static void report_count(const char *protocol, const char *what, size_t n)
{
    char name[40];
    (void)snprintf(name, sizeof name, "%s_%s", protocol, what);
    bench_number(name, (double)n);
}

/* Of answers that need not be exact. */
static void report_distances(const subject *s, const char *protocol, size_t n, const int64_t *y)
{
    double farthest = 0;
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        double far = 0;
        for (size_t k = i * s->outputs; k < (i + 1) * s->outputs; k++)
            far = fmax(far, fabs((double)(y[k] - s->expected[k])));
        wrong += far > s->rounding.most;
        farthest = far > s->rounding.most ? farthest : fmax(farthest, far);
    }
    report_count(protocol, "farthest", (size_t)farthest);
    report_count(protocol, "wrong", wrong);
}

static void ask_all(const subject *s, size_t k, const settings *o)
{
    const uint64_t most = o->most[k];
    const size_t size = s->outputs * sizeof(int64_t);
    size_t n = most > 0 && most < s->n ? most : s->n, equal = 0, differ = 0;
    int64_t *y = served_room(n * s->outputs, sizeof *y);
    served_session *session = open_session(s, k, o);
    if (session != NULL)
        served_ask_many(session, n, s->x, y);
    else
        n = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t *answer = y + i * s->outputs;
        equal += memcmp(answer, s->expected + i * s->outputs, size) == 0;
        differ += served_class_of_integers(s->outputs, answer) != class_at(s, true, i);
    }
    if (session != NULL)
        served_close(session);
    report_count(protocols[k].name, "asked", n);
    report_count(protocols[k].name, "equal", equal);
    report_count(protocols[k].name, "classes_differ", differ);
    if (o->probabilistic > 0 && protocols[k].parties > 0)
        report_distances(s, protocols[k].name, n, y);
    free(y);
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
    if (o->probabilistic > 0) {
        bench_number("shifted", s->rounding.shifted);
        bench_number("last_place", s->rounding.last_place);
        bench_number("off_at_most", s->rounding.most);
        bench_number("wrong_at_most", s->rounding.wrong * (double)s->n);
    }
    for (size_t k = 0; k < PROTOCOLS; k++)
        if (o->asks[k])
            ask_all(s, k, o);
    bench_end_line();
    (void)fflush(stdout);
}

static void measure(const served_model *m, const served_data *d, double epsilon, const settings *o)
{
    subject s = {.model = m, .data = d, .fit = served_train(m, d, epsilon, o->delta, o->keep)};
    lower(&s, o);
    if (o->probabilistic > 0)
        s.rounding = served_rounding_of(s.p);
    run(&s);
    report(&s, o);
    free(s.x), free(s.y), free(s.expected);
    dp_program_free(s.p);
    dp_fit_free(s.fit.fit);
}

static void measure_all(const settings *o)
{
    size_t n;
    const served_model *m = served_models(&n);
    served_data d = {0};
    const char *of = "";
    for (size_t k = 0; k < n; k++) {
        if (o->only != NULL && strcmp(o->only, m[k].name) != 0)
            continue;
        if (strcmp(of, m[k].data) != 0) {
            served_free(&d);
            served_read(o->folder, of = m[k].data, o->fold, &d);
        }
        if (o->privacy == NULL || strcmp(o->privacy, "none") == 0)
            measure(&m[k], &d, INFINITY, o);
        if (o->privacy == NULL || strcmp(o->privacy, "epsilon") == 0)
            measure(&m[k], &d, o->epsilon, o);
    }
    served_free(&d);
}

int main(int argc, char **argv)
{
    settings o = {.folder = "../shared/data",
                  .protocols = "lattice,paillier,trio,quad",
                  .epsilon = 4,
                  .delta = 1e-5,
                  .threads = 2,
                  .lanes = 1,
                  .fold = 4};
    const bench_option list[] = {{.name = "--data", .text = &o.folder},
                                 {.name = "--model", .text = &o.only},
                                 {.name = "--privacy", .text = &o.privacy},
                                 {.name = "--epsilon", .number = &o.epsilon},
                                 {.name = "--delta", .number = &o.delta},
                                 {.name = "--protocols", .text = &o.protocols},
                                 {.name = "--lattice", .count = &o.most[0]},
                                 {.name = "--paillier", .count = &o.most[1]},
                                 {.name = "--trio", .count = &o.most[2]},
                                 {.name = "--quad", .count = &o.most[3]},
                                 {.name = "--fold", .count = &o.fold},
                                 {.name = "--weight-bits", .count = &o.weight_bits},
                                 {.name = "--activation-bits", .count = &o.activation_bits},
                                 {.name = "--keep", .text = &o.keep},
                                 {.name = "--in-flight", .count = &o.in_flight},
                                 {.name = "--records", .count = &o.records},
                                 {.name = "--lanes", .count = &o.lanes},
                                 {.name = "--probabilistic", .count = &o.probabilistic},
                                 {.name = "--threads", .count = &o.threads}};
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    struct stat there;
    if (stat(o.folder, &there) != 0)
        bench_stop(o.folder, "is not there: the data sets are not part of the distribution");
    choose(o.protocols, o.asks);
    measure_all(&o);
    return 0;
}
