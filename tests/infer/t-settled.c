/* Values that depend on columns alone are computed once: the density stays what it is, less is
 * computed, and what must not be taken is left. */
#include <math.h>
#include <string.h>

#include <tacit/model.h>
#include <tacit/smooth.h>

#include "graph/op.h"
#include "infer/posterior.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { N = 300, GROUPS = 5, FUNCTIONS = 12, D = 40 }; /* more than a chunk, and a part of one */

static const size_t plenty = (size_t)1 << 28;

typedef struct records {
    double x[N], wide[N * 3], y[N], count[N], zero[N];
    int32_t g[N];
    unsigned char byte[N];
} records;

static dp_dataset *make_data(records *r)
{
    for (size_t i = 0; i < N; i++) {
        r->x[i] = sin(3.7 * (double)i);
        for (size_t k = 0; k < 3; k++)
            r->wide[3 * i + k] = cos(1.3 * (double)(i * (k + 1)));
        r->y[i] = 1 + r->x[i] + 0.7 * sin(11.9 * (double)i + 1);
        r->count[i] = (double)(i * i % 7);
        r->g[i] = (int32_t)(i * i % GROUPS);
        r->byte[i] = (unsigned char)(i * 37 % 256);
        r->zero[i] = i == 7 ? 0 : 1 + (double)(i % 3);
    }
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", 1, r->x);
    dp_dataset_real(data, "wide", 3, r->wide);
    dp_dataset_real(data, "y", 1, r->y);
    dp_dataset_real(data, "count", 1, r->count);
    dp_dataset_index(data, "g", r->g);
    dp_dataset_bytes(data, "grey", 1, 255, r->byte);
    dp_dataset_bernoulli(data, "drawn", 1, 255, r->byte);
    dp_dataset_real(data, "zero", 1, r->zero);
    return data;
}

/* ---- models ---- */

static dp_expr sigma_of(dp_model *m)
{
    return dp_sample(m, "sigma", 1, dp_gamma(2, 1));
}

/* A process: sines of a column. */
static void write_process(dp_model *m, dp_plate rows)
{
    const dp_gp_opts o = {.low = -1, .high = 1, .functions = FUNCTIONS};
    dp_expr f = dp_hilbert_gp(dp_data(rows, "x", 1), "f", &o);
    dp_observe(rows, "y", dp_normal_v(f, sigma_of(m)));
}

/* log y!, a basis times weights, known numbers of groups, bytes, and a number repeated. */
static void write_many(dp_model *m, dp_plate rows)
{
    static const double known[GROUPS] = {0.3, -0.1, 0.2, 0.5, -0.4};
    dp_plate groups = dp_plate_new(m, "groups", GROUPS);
    dp_expr g = dp_index(rows, "g", groups), x = dp_data(rows, "x", 1);
    dp_expr w = dp_sample(m, "w", 3, dp_normal(0, 1));
    dp_expr b = dp_sample_in(groups, "b", 1, dp_normal(0, 1));
    dp_expr offset = dp_exp(dp_pick(dp_constant(m, GROUPS, known), g));
    dp_expr basis = dp_exp(dp_mul(dp_data(rows, "wide", 3), x));
    dp_expr rate = dp_add(dp_dot(basis, w), dp_add(dp_pick(b, g), offset));
    dp_observe(rows, "count", dp_poisson_log(dp_add(rate, dp_square(dp_data(rows, "grey", 1)))));
}

/* Nothing that could be taken: a line through a column. */
static void write_line(dp_model *m, dp_plate rows)
{
    dp_expr a = dp_sample(m, "a", 1, dp_normal(0, 1)), b = dp_sample(m, "b", 1, dp_normal(0, 1));
    dp_expr mean = dp_add(a, dp_mul(b, dp_data(rows, "x", 1)));
    dp_observe(rows, "y", dp_normal_v(mean, dp_num(0.8)));
}

/* A column that is drawn anew in each use. */
static void write_drawn(dp_model *m, dp_plate rows)
{
    dp_expr b = dp_sample(m, "b", 1, dp_normal(0, 1));
    dp_expr e = dp_exp(dp_data(rows, "drawn", 1));
    dp_observe(rows, "y", dp_normal_v(dp_mul(b, e), dp_num(0.8)));
}

/* log 0 of one record, which e^-inf makes 0 again. */
static void write_infinite(dp_model *m, dp_plate rows)
{
    dp_expr b = dp_sample(m, "b", 1, dp_normal(1, 1));
    dp_expr power = dp_exp(dp_add(dp_log(dp_data(rows, "zero", 1)), b));
    dp_observe(rows, "y", dp_normal_v(power, dp_num(0.8)));
}

typedef struct scene {
    const char *name;
    void (*write)(dp_model *m, dp_plate rows);
    size_t settled;
} scene;

static const scene
    scenes[] =
        {
            {"process", write_process, 1},
            {"many", write_many, 4}, /* the basis, the known numbers, the squares, log y! */
            {"line", write_line, 0},
            {"drawn", write_drawn, 0},
            {"infinite", write_infinite, 0},
};

enum { N_SCENES = sizeof scenes / sizeof *scenes };

static dp_model *make_model(const scene *s)
{
    dp_model *m = dp_model_new();
    s->write(m, dp_unit_plate(m, "rows"));
    assert_ok(dp_model_status(m), dp_model_error(m));
    return m;
}

/* ---- what is asked ---- */

static const double *const nothing_loose[16] = {NULL};

static void make_posterior(dpi_posterior *p, const dp_model *m, const dp_dataset *data)
{
    dp_error err = {0};
    assert_true(m->n_sites <= 16);
    assert_ok(dpi_posterior_init(p, m, data, nothing_loose, NULL, &err), err.text);
}

/* Operations on values of records that an evaluation makes. */
static size_t operations(const dpi_posterior *p)
{
    const dpi_graph *g = &p->objective.graph;
    bool needed[1024] = {false};
    size_t n = 0;
    assert_true(g->n_nodes <= 1024);
    dpi_mark(g, p->objective.record, needed);
    for (size_t k = 0; k < p->n_parts; k++)
        dpi_mark(g, p->part[k], needed);
    for (size_t i = 0; i < g->n_nodes; i++)
        n += needed[i] && g->nodes[i].shape.per_record && !dpi_is_source(&g->nodes[i]);
    return n;
}

static double evaluate(dpi_posterior *p, const double *z, double gradient[D])
{
    dpi_evaluator e;
    dp_error err = {0};
    assert_true(p->objective.n_theta <= D);
    assert_ok(dpi_evaluator_init(&e, p, &err), err.text);
    double value = dpi_evaluate(&e, z, gradient);
    dpi_evaluator_free(&e);
    return value;
}

/* At one place before and after. */
static void the_density_stays_and_less_is_computed(void **state)
{
    static records r;
    dp_dataset *data = make_data(&r);
    (void)state;
    for (const scene *s = scenes; s < scenes + N_SCENES; s++) {
        double z[D], gradient[2][D], value[2];
        dp_model *m = make_model(s);
        dpi_posterior p;
        dp_error err = {0};
        size_t before, settled;
        for (size_t i = 0; i < D; i++)
            z[i] = 0.3 * sin(2.3 * (double)i + 1);
        make_posterior(&p, m, data);
        value[0] = evaluate(&p, z, gradient[0]);
        before = operations(&p);
        assert_ok(dpi_posterior_settle(&p, plenty, &settled, &err), err.text);
        value[1] = evaluate(&p, z, gradient[1]);
        print_message("%s: %zu operations, then %zu; %zu columns\n", s->name, before,
                      operations(&p), settled);
        assert_int_equal(settled, s->settled);
        assert_true(settled > 0 ? operations(&p) + settled <= before : operations(&p) == before);
        if (s->write != write_drawn) {
            assert_true(isfinite(value[0]));
            assert_close(value[1], value[0], 1e-14, 0);
            for (size_t i = 0; i < p.objective.n_theta; i++)
                assert_close(gradient[1][i], gradient[0][i], 1e-14, 1e-12);
        }
        dpi_posterior_free(&p);
        dp_model_free(m);
    }
    dp_dataset_free(data);
}

/* The basis takes N * 3 numbers, the three others N each; the last in the graph comes first. */
static void no_more_memory_is_taken_than_is_allowed(void **state)
{
    static records r;
    static const struct {
        size_t numbers, settled;
    } cases[] = {{0, 0}, {N - 1, 0}, {N, 1}, {3 * N - 1, 2}, {6 * N, 4}};
    dp_dataset *data = make_data(&r);
    dp_model *m = make_model(&scenes[1]);
    double z[D] = {0.1, 0.2}, gradient[D];
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dpi_posterior p;
        dp_error err = {0};
        size_t settled;
        make_posterior(&p, m, data);
        double before = evaluate(&p, z, gradient);
        assert_ok(dpi_posterior_settle(&p, cases[k].numbers * sizeof(double), &settled, &err),
                  err.text);
        print_message("%zu numbers: %zu columns\n", cases[k].numbers, settled);
        assert_int_equal(settled, cases[k].settled);
        assert_close(evaluate(&p, z, gradient), before, 1e-14, 0);
        dpi_posterior_free(&p);
    }
    dp_model_free(m);
    dp_dataset_free(data);
}

/* What is wrong with a column is still said, though no evaluator reads it any more. */
static void columns_are_checked(void **state)
{
    static records r;
    dp_dataset *data = make_data(&r);
    dp_model *m = make_model(&scenes[0]);
    dpi_posterior p;
    dp_error err = {0};
    (void)state;
    make_posterior(&p, m, data);
    r.x[5] = NAN;
    assert_fails(dpi_posterior_settle(&p, plenty, NULL, &err), DP_EDATA, &err, "'x'");
    dpi_posterior_free(&p);
    dp_model_free(m);
    dp_dataset_free(data);
}

static void every_failing_allocation_is_survived(void **state)
{
    static records r;
    dp_dataset *data = make_data(&r);
    dp_model *m = make_model(&scenes[1]);
    size_t live = faulty_live();
    int failed = 1;
    (void)state;
    for (size_t k = 1; failed; k++) {
        dpi_posterior p;
        dp_error err = {0};
        make_posterior(&p, m, data);
        faulty_fail(k);
        dp_status status = dpi_posterior_settle(&p, plenty, NULL, &err);
        failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        dpi_posterior_free(&p);
        assert_int_equal(faulty_live(), live);
    }
    dp_model_free(m);
    dp_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_density_stays_and_less_is_computed),
        cmocka_unit_test(no_more_memory_is_taken_than_is_allowed),
        cmocka_unit_test(columns_are_checked),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
