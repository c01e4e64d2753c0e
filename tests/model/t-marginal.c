/* Discrete latents summed out, beside sums over all their values. */
#include <tacit/marginal.h>

#include <math.h>
#include <string.h>

#include "exec/value.h"
#include "graph/gradient.h"
#include "model/model.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"
#include "tests/model/operands.h"

/* ---- one latent ---- */

/* The plate of records, which is the first that begin() makes. */
static dp_plate records_of(const scene *q)
{
    return (dp_plate){.model = q->m, .id = 1};
}

static void values_are_summed_out(void **state)
{
    (void)state;
    scene q = begin();
    double chance[N * 3], log_sum[N];
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += chance[i * 3 + k] = exp(v_is[k] + x_is[i][k]);
        for (int k = 0; k < 3; k++)
            chance[i * 3 + k] /= sum;
        log_sum[i] = log(sum);
    }
    assert_value_within(&q, dp_responsibilities(q.v, q.x), N * 3, chance, 1e-14);
    dp_marginal(records_of(&q), "kind", q.v, q.x);
    assert_ok(dp_model_status(q.m), dp_model_error(q.m));
    const dpi_site *site = dpi_find_site(q.m, "kind");
    assert_non_null(site);
    assert_int_equal(site->kind, DPI_FACTOR);
    assert_value_within(&q, (dp_expr){.model = q.m, .id = site->value}, N, log_sum, 1e-14);
    dp_model_free(q.m);
}

/* A value or a density far off neither overflows nor hides the others. */
static void distant_values_add_nothing(void **state)
{
    (void)state;
    scene q = begin();
    const double far[3] = {-1e300, 700, 710};
    double sums[N];
    for (int i = 0; i < N; i++)
        sums[i] = 710 + x_is[i][2] + log1p(exp(700 + x_is[i][1] - 710 - x_is[i][2]));
    dp_marginal(records_of(&q), "kind", dp_constant(q.m, 3, far), q.x);
    const dpi_site *site = dpi_find_site(q.m, "kind");
    assert_value_within(&q, (dp_expr){.model = q.m, .id = site->value}, N, sums, 1e-14);
    dp_model_free(q.m);
}

/* ---- chains ---- */

enum { K = 3, T = 5, PATHS = 243, LONG = 200, ROWS = 2 };

/* A chain whose first state and transitions are latents and whose emissions are a column. */
typedef struct chain {
    dp_model *m;
    dp_expr initial, transition, emission;
    size_t n;
    double initial_is[K], transition_is[K][K], emission_is[ROWS][LONG][K];
} chain;

static double scattered(size_t i)
{
    return sin(3.7 * (double)i + 0.3) * 1.4 - 0.8;
}

static void write_chain(chain *c, size_t n)
{
    *c = (chain){.m = dp_model_new(), .n = n};
    dp_plate rows = dp_unit_plate(c->m, "rows"), states = dp_plate_new(c->m, "states", K);
    c->initial = dp_sample_in(states, "initial", 1, dp_normal(0, 1));
    c->transition = dp_sample_in(states, "transition", K, dp_normal(0, 1));
    c->emission = dp_reshape(dp_data(rows, "emission", n * K), n, K);
    for (size_t j = 0; j < K; j++) {
        c->initial_is[j] = scattered(j);
        for (size_t k = 0; k < K; k++)
            c->transition_is[j][k] = scattered(17 + j * K + k);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t t = 0; t < n; t++)
                c->emission_is[i][t][j] = scattered(100 + (i * n + t) * K + j);
    }
}

/* The value of one node for the rows, [ROWS][size]. */
static void value_of(const chain *c, dpi_id id, size_t size, double *out)
{
    static double column[ROWS * LONG * K];
    dp_error err = {0};
    dpi_run *run;
    assert_ok(dp_model_status(c->m), dp_model_error(c->m));
    assert_int_equal(dpi_shape_size(&dpi_get(&c->m->graph, id)->shape), size);
    for (size_t i = 0; i < ROWS; i++)
        memcpy(column + i * c->n * K, c->emission_is[i], c->n * K * sizeof *column);
    dp_dataset *data = dp_dataset_new(ROWS);
    dp_dataset_real(data, "emission", c->n * K, column);
    const dpi_run_spec spec = {
        .graph = &c->m->graph, .wanted = &id, .n_wanted = 1, .data = data, .chunk = ROWS};
    assert_ok(dpi_run_new(&spec, &run, &err), err.text);
    if (dpi_run_value(run, c->initial.id) != NULL)
        dpi_run_write(run, c->initial.id, 0, K, c->initial_is);
    if (dpi_run_value(run, c->transition.id) != NULL)
        dpi_run_write(run, c->transition.id, 0, K * K, &c->transition_is[0][0]);
    dpi_run_globals(run);
    dpi_run_records(run, ROWS, NULL, 0);
    dpi_run_read(run, id, 0, ROWS * size, out);
    dpi_run_free(run);
    dp_dataset_free(data);
}

/* Sums over all paths of a record: of e^(log density), and of that times how often a path starts in
 * a state, goes from one to another, and is in a state at a time. */
typedef struct sums {
    double all, initial[K], transition[K][K], at[T][K];
} sums;

static sums over_paths(const chain *c, size_t i)
{
    sums s = {.all = 0};
    for (int path = 0; path < PATHS; path++) {
        int state[T], rest = path;
        for (int t = 0; t < T; t++, rest /= K)
            state[t] = rest % K;
        double log_density = c->initial_is[state[0]];
        for (int t = 0; t < T; t++)
            log_density += c->emission_is[i][t][state[t]] +
                           (t > 0 ? c->transition_is[state[t - 1]][state[t]] : 0);
        const double density = exp(log_density);
        s.all += density;
        s.initial[state[0]] += density;
        for (int t = 0; t < T; t++) {
            s.at[t][state[t]] += density;
            if (t > 0)
                s.transition[state[t - 1]][state[t]] += density;
        }
    }
    return s;
}

static void a_chain_is_the_sum_over_its_paths(void **state)
{
    (void)state;
    static chain c;
    double log_density[ROWS], at[ROWS][T][K], initial[ROWS][K], transition[ROWS][K][K];
    write_chain(&c, T);
    dp_expr root = dp_forward(c.initial, c.transition, c.emission);
    dp_expr chances = dp_state_probabilities(c.initial, c.transition, c.emission);
    const dpi_id wrt[2] = {c.initial.id, c.transition.id};
    dpi_id slope[2];
    assert_ok(dp_model_status(c.m), dp_model_error(c.m));
    assert_int_equal(dpi_gradient(&c.m->graph, root.id, 2, wrt, slope), DP_OK);
    value_of(&c, root.id, 1, log_density);
    value_of(&c, chances.id, T * K, &at[0][0][0]);
    value_of(&c, slope[0], K, &initial[0][0]);
    value_of(&c, slope[1], K * K, &transition[0][0][0]);
    for (int i = 0; i < ROWS; i++) {
        const sums s = over_paths(&c, (size_t)i);
        assert_close(log_density[i], log(s.all), 1e-13, 0);
        for (int j = 0; j < K; j++) {
            assert_close(initial[i][j], s.initial[j] / s.all, 1e-12, 0);
            for (int k = 0; k < K; k++)
                assert_close(transition[i][j][k], s.transition[j][k] / s.all, 1e-12, 0);
            for (int t = 0; t < T; t++)
                assert_close(at[i][t][j], s.at[t][j] / s.all, 1e-12, 0);
        }
    }
    dp_model_free(c.m);
}

/* The recursion in chances, scaled at each time. */
static double by_recursion(const chain *c, size_t i)
{
    double a[K], log_density = 0;
    for (size_t t = 0; t < c->n; t++) {
        double next[K], sum = 0;
        for (int j = 0; j < K; j++) {
            double before = 0;
            for (int k = 0; k < K && t > 0; k++)
                before += a[k] * exp(c->transition_is[k][j]);
            next[j] = (t > 0 ? before : exp(c->initial_is[j])) * exp(c->emission_is[i][t][j]);
            sum += next[j];
        }
        for (int j = 0; j < K; j++)
            a[j] = next[j] / sum;
        log_density += log(sum);
    }
    return log_density;
}

/* Also of one time, and of one that is no power of two; chances sum to 1 at each time. */
static void chains_of_any_length_are_followed(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 2, 3, 7, LONG};
    static chain c;
    static double at[ROWS][LONG * K];
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
        double log_density[ROWS];
        const size_t n = lengths[l];
        write_chain(&c, n);
        dp_expr root = dp_forward(c.initial, c.transition, c.emission);
        dp_expr chances = dp_state_probabilities(c.initial, c.transition, c.emission);
        value_of(&c, root.id, 1, log_density);
        value_of(&c, chances.id, n * K, &at[0][0]);
        for (size_t i = 0; i < ROWS; i++)
            assert_close(log_density[i], by_recursion(&c, i), 1e-12, 0);
        for (size_t t = 0; t < ROWS * n; t++) {
            const double *row = &at[0][0] + t * K;
            assert_close(row[0] + row[1] + row[2], 1, 1e-12, 0);
        }
        dp_model_free(c.m);
    }
}

/* ---- what is refused ---- */

static void refused(dp_model *m, dp_status status, const char *says)
{
    assert_string_equal(dp_status_name(dp_model_status(m)), dp_status_name(status));
    assert_contains(dp_model_error(m), says);
    dp_model_free(m);
}

static void misfits_are_refused(void **state)
{
    (void)state;
    scene q = begin();
    dp_marginal(records_of(&q), "kind", q.v, dp_slice(q.x, 0, 1));
    refused(q.m, DP_ESHAPE, "t-marginal.c:");
    q = begin();
    (void)dp_responsibilities(q.s, q.x);
    refused(q.m, DP_ESHAPE, "they are a number and [3]");
    q = begin();
    (void)dp_responsibilities(dp_num(0), q.x);
    refused(q.m, DP_ESHAPE, "log weights [K]");
    q = begin();
    (void)dp_forward(q.v, q.W, q.x);
    refused(q.m, DP_ESHAPE, "they are [3], [2][3] and [3], one per record");
    q = begin();
    (void)dp_state_probabilities(q.s, q.W, q.W);
    refused(q.m, DP_ESHAPE, "a chain takes [K], [K][K] and [T][K]");
    static chain c;
    write_chain(&c, T);
    dp_expr first = dp_slice(c.emission, 0, 1);
    assert_true(dp_forward(first, c.transition, c.emission).id >= 0);
    (void)dp_state_probabilities(first, c.transition, c.emission);
    refused(c.m, DP_EINVAL, "computed from what is seen");
}

/* ---- memory ---- */

/* A model of all that is here; its status. */
static dp_status write_all(void)
{
    const double start[K] = {0.2, 0.3, 0.5};
    dp_model *m = dp_model_new();
    if (m == NULL)
        return DP_ENOMEM;
    dp_plate rows = dp_unit_plate(m, "rows"), states = dp_plate_new(m, "states", K);
    dp_expr mean = dp_sample_in(states, "mean", 1, dp_normal(0, 1));
    dp_expr from = dp_sample_in(states, "from", K, dp_dirichlet(1));
    dp_expr first = dp_log(dp_constant(m, K, start));
    dp_expr seen =
        dp_log_density(dp_normal_v(mean, dp_num(1)), dp_spread(dp_data(rows, "y", T), K));
    dp_factor(rows, "chain", dp_forward(first, dp_log(from), seen));
    (void)dp_deterministic(m, "state", dp_state_probabilities(first, dp_log(from), seen));
    dp_expr each = dp_log_density(dp_normal_v(mean, dp_num(2)), dp_data(rows, "x", 1));
    dp_marginal(rows, "kind", first, each);
    (void)dp_deterministic(m, "chance", dp_responsibilities(first, each));
    const dp_status status = dp_model_status(m);
    dp_model_free(m);
    return status;
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    const size_t live = faulty_live();
    int failed = 1;
    for (size_t at = 1; failed; at++) {
        faulty_fail(at);
        const dp_status status = write_all();
        failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_int_equal(faulty_live(), live);
    }
}

static void of_numbers(void *of)
{
    if (*(int *)of == 0)
        (void)dp_responsibilities(dp_num(0), dp_num(1));
    else
        (void)dp_forward(dp_num(0), dp_num(1), dp_num(2));
}

static void plain_numbers_alone_are_misuse(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++)
        assert_aborts(of_numbers, &k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_summed_out),
        cmocka_unit_test(distant_values_add_nothing),
        cmocka_unit_test(a_chain_is_the_sum_over_its_paths),
        cmocka_unit_test(chains_of_any_length_are_followed),
        cmocka_unit_test(misfits_are_refused),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(plain_numbers_alone_are_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
