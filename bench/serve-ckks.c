/* Programs that are computed to their end under encryption: answers beside those of the program in
 * the clear, and what they cost, over loopback.
 *   make bench/serve-ckks && bench/serve-ckks [--data ../shared/data] [--model NAME] [--cases N]
 *     [--weight-bits B] [--keep FOLDER] [--threads N]
 * One JSON line a model: degree 2^log_n of the ring, depth, scale, log2(Q P), degree of the link
 * (0: none), diagonals and rotations; bytes of keys a session, and of a query up and down; and of
 * the first --cases (1000) test images, asked one after the other: milliseconds of a query (median
 * and least) and of the processor for both sides together, of opening a session with its keys;
 * how many classes are those of the same polynomial with the same weights in the clear, how far the
 * farthest answer and probability (after a softmax, where the program has none) are from its, and
 * how many classes the program's integers have otherwise.  accuracy is on the whole test set, in
 * the clear, of reals. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench.h"
#include "options.h"
#include "serve/ckks.h"
#include "served.h"

enum { OUTPUTS = 10 };

typedef struct settings {
    const char *folder, *only, *keep;
    uint64_t cases, weight_bits, threads;
} settings;

typedef struct subject {
    const served_square *model;
    const served_data *data;
    dp_program *p;
    size_t inputs, outputs, cases;
    double *x; /* [test][inputs] */
    dpi_serve_plan plan;
    dpi_circuit circuit;
    dpi_serve_cost cost;
} subject;

typedef struct tally {
    size_t equal, exact;
    double answer, chance; /* the farthest */
    double *ms, *processor;
} tally;

/* ---- in the clear ---- */

/* What a linear step makes of its places. */
static void run_map(const subject *s, size_t i, const double *x, double *y)
{
    const dpi_circuit_step *step = &s->circuit.step[i];
    const dpi_placement *in = i > 0 ? &s->circuit.step[i - 1].out : &s->circuit.in;
    const dp_stage *stage = dp_program_stage(s->p, step->stage);
    memset(y, 0, step->out.period * sizeof *y);
    for (size_t t = 0; t < step->map.n; t++) {
        const dpi_ckks_term *term = &step->map.term[t];
        y[term->to % step->out.period] += term->w * x[term->from % in->period];
    }
    for (size_t o = 0; o < stage->size && stage->bias != NULL; o++)
        y[step->out.place[o]] +=
            ldexp((double)stage->bias[o % stage->n_bias], -stage->fraction) * step->times;
}

/* The circuit's numbers y[outputs] of integers v[inputs], by doubles. */
static void run_clear(const subject *s, const int64_t *v, double *y)
{
    static double room[2][1 << 15];
    double *x = room[0], *to = room[1];
    const int fraction = dp_program_stage(s->p, 0)->fraction;
    for (size_t k = 0; k < s->inputs; k++)
        x[s->circuit.in.place[k]] = ldexp((double)v[k], -fraction);
    for (size_t i = 0; i < s->circuit.n_steps; i++) {
        const dpi_circuit_step *step = &s->circuit.step[i];
        if (step->kind == DPI_CIRCUIT_LINEAR) {
            run_map(s, i, x, to);
            double *kept = x;
            x = to;
            to = kept;
            continue;
        }
        for (size_t k = 0; k < step->out.period; k++)
            x[k] = step->kind == DPI_CIRCUIT_SQUARE
                       ? x[k] * x[k]
                       : dpi_ckks_polynomial_at(step->degree, step->a, x[k]);
    }
    const dpi_circuit_step *last = dpi_circuit_last(&s->circuit);
    for (size_t o = 0; o < s->outputs; o++)
        y[o] = x[last->out.place[o]] / last->times;
    memset(room, 0, sizeof room);
}

static void chances_of(const subject *s, const double *y, double *chance)
{
    double most = y[0], sum = 0;
    for (size_t o = 1; o < s->outputs; o++)
        most = fmax(most, y[o]);
    for (size_t o = 0; o < s->outputs; o++)
        sum += exp(y[o] - most);
    for (size_t o = 0; o < s->outputs; o++)
        chance[o] = s->outputs == 1 ? y[o] : exp(y[o] - most) / sum;
}

/* A chance alone is above 1/2 or not. */
static int32_t class_of(const subject *s, const double *y)
{
    return s->outputs == 1 ? y[0] > .5 : served_class_of(s->outputs, y);
}

/* ---- asking ---- */

static void compare(const subject *s, const double *x, const int64_t *answer, tally *t)
{
    double clear[OUTPUTS], y[OUTPUTS], integers[OUTPUTS], chance[2][OUTPUTS];
    int64_t *v = served_room(s->inputs, sizeof *v), exact[OUTPUTS];
    const int fraction = dp_program_stage(s->p, dp_program_stages(s->p) - 1)->fraction;
    dp_error err = {0};
    served_must(dp_program_encode(s->p, 1, x, v, &err), "integers", &err);
    served_must(dp_program_run_exact(s->p, 1, v, exact, &err), "integers", &err);
    run_clear(s, v, clear);
    free(v);
    for (size_t o = 0; o < s->outputs; o++) {
        y[o] = ldexp((double)answer[o], -fraction);
        integers[o] = ldexp((double)exact[o], -fraction);
        t->answer = fmax(t->answer, fabs(y[o] - clear[o]));
    }
    chances_of(s, clear, chance[0]);
    chances_of(s, y, chance[1]);
    for (size_t o = 0; o < s->outputs; o++)
        t->chance = fmax(t->chance, fabs(chance[0][o] - chance[1][o]));
    t->equal += class_of(s, y) == class_of(s, clear);
    t->exact += class_of(s, integers) == class_of(s, clear);
}

static void ask_all(const subject *s, served_session *session, tally *t)
{
    int64_t answer[OUTPUTS];
    for (size_t i = 0; i < s->cases; i++) {
        const double *x = s->x + i * s->inputs;
        const double from = bench_now(), used = bench_processor();
        served_ask(session, x, answer);
        t->ms[i] = 1e3 * (bench_now() - from);
        t->processor[i] = 1e3 * (bench_processor() - used);
        compare(s, x, answer, t);
    }
}

/* ---- a line ---- */

static double accuracy(const subject *s)
{
    const size_t n = s->data->test.n;
    double *y = served_room(n * s->outputs, sizeof *y);
    size_t right = 0;
    dp_error err = {0};
    served_must(dp_program_run(s->p, n, s->x, y, &err), "reals", &err);
    for (size_t i = 0; i < n; i++)
        right += class_of(s, y + i * s->outputs) == s->data->test.label[i];
    free(y);
    return (double)right / (double)n;
}

static size_t link_degree(const dpi_circuit *c)
{
    size_t degree = 0;
    for (size_t i = 0; i < c->n_steps; i++)
        degree = c->step[i].degree > degree ? c->step[i].degree : degree;
    return degree;
}

static void report(const subject *s, tally *t, double opened, uint64_t threads)
{
    const dpi_ckks *c = s->circuit.c;
    (void)printf("{\"model\": \"%s\", \"form\": \"%s\", \"protocol\": \"ckks\", ", s->model->name,
                 s->model->form);
    bench_number("log_n", log2((double)dpi_ckks_n(c)));
    bench_number("depth", (double)dpi_ckks_depth(c));
    bench_number("scale_bits", log2(dpi_ckks_scale(c, 0)));
    bench_number("bits", dpi_ckks_bits(c));
    bench_number("link_degree", (double)link_degree(&s->circuit));
    bench_number("diagonals", (double)s->circuit.diagonals);
    bench_number("rotations", (double)s->circuit.n_turns);
    bench_number("flood_bits", s->circuit.flood);
    bench_number("bytes_keys", (double)s->cost.key);
    bench_number("bytes_up", (double)s->cost.up[0]);
    bench_number("bytes_down", (double)s->cost.down[0]);
    bench_number("threads", (double)threads);
    bench_number("cases", (double)s->cases);
    bench_number("ms", bench_median(t->ms, s->cases));
    bench_number("ms_low", t->ms[0]);
    bench_number("ms_processor", bench_median(t->processor, s->cases));
    bench_number("ms_open", 1e3 * opened);
    bench_number("classes_equal", (double)t->equal);
    bench_number("integers_equal", (double)t->exact);
    bench_number("farthest_answer", t->answer);
    bench_number("farthest_chance", t->chance);
    bench_number("accuracy", accuracy(s));
    bench_end_line();
    (void)fflush(stdout);
}

static void measure(const served_square *q, const served_data *d, const settings *o)
{
    const dp_scale_opts scales = {.weight_bits = (int)o->weight_bits};
    subject s = {.model = q, .data = d, .p = served_square_program(q, d, o->keep)};
    dp_error err = {0};
    served_must(dp_program_fix(s.p, &scales, &err), "scales", &err);
    s.inputs = dp_program_inputs(s.p);
    s.outputs = dp_program_outputs(s.p);
    s.x = served_inputs(s.p, &d->test);
    s.cases = o->cases < d->test.n ? o->cases : d->test.n;
    served_must(dpi_serve_plan_whole(s.p, DPI_MODE_LINEAR, &s.plan, &err), "plan", &err);
    served_must(dpi_circuit_make(&s.plan, &s.circuit, &err), "circuit", &err);
    served_must(dpi_ckks_row.cost(&s.plan, DPI_MODE_LINEAR, NULL, &s.cost, &err), "cost", &err);
    tally t = {.ms = served_room(s.cases, sizeof *t.ms),
               .processor = served_room(s.cases, sizeof *t.processor)};
    const double from = bench_now();
    served_session *session = served_open(s.p, DP_SERVE_CKKS, DP_SERVE_LINEAR, o->threads, 1);
    if (session == NULL)
        bench_stop(q->name, "cannot be served under CKKS");
    const double opened = bench_now() - from;
    ask_all(&s, session, &t);
    served_close(session);
    report(&s, &t, opened, o->threads);
    free(t.ms), free(t.processor), free(s.x);
    dpi_circuit_free(&s.circuit);
    dp_program_free(s.p);
}

int main(int argc, char **argv)
{
    size_t n;
    const served_square *q = served_squares(&n);
    settings o = {.folder = "../shared/data", .cases = 1000, .threads = 1};
    const bench_option list[] = {
        {.name = "--data", .text = &o.folder},  {.name = "--model", .text = &o.only},
        {.name = "--cases", .count = &o.cases}, {.name = "--weight-bits", .count = &o.weight_bits},
        {.name = "--keep", .text = &o.keep},    {.name = "--threads", .count = &o.threads}};
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    struct stat there;
    if (stat(o.folder, &there) != 0)
        bench_stop(o.folder, "is not there: the data sets are not part of the distribution");
    served_data digits = {0}, wide = {0};
    served_read(o.folder, "mnist", 0, &digits);
    for (size_t k = 0; k < n; k++) {
        if (o.only != NULL && strcmp(o.only, q[k].name) != 0)
            continue;
        if (q[k].odd && wide.inputs == 0)
            served_widen(&digits, &wide);
        measure(&q[k], q[k].odd ? &wide : &digits, &o);
    }
    served_free(&digits);
    served_free(&wide);
    return 0;
}
