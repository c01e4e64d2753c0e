/* The hidden Markov model: its density by the recursion in chances, and what it finds in sequences
 * that are drawn from a known one. */
#include <math.h>

#include "tests/lib/check.h"
#include "tests/models/world.h"

enum { N = 400, T = 12, K = 2, V = 4 };

static const double initial[K] = {0.7, 0.3}, pi = 3.14159265358979323846;
static const double transition[K][K] = {{0.85, 0.15}, {0.25, 0.75}}, mean[K] = {-1, 1.2}, sd = 0.5;
static const double emission[K][V] = {{0.6, 0.1, 0.2, 0.1}, {0.05, 0.65, 0.1, 0.2}};
static double y[N][T], seen[N][T], u[N][T][2];
static int32_t symbol[N][T];
static const dp_svi_opts plain = {.mode = DP_NO_PRIVACY, .steps = 1000, .average = 0.25, .seed = 2};

static int choose(const double *chance, int n, double at)
{
    int k = 0;
    for (at -= chance[0]; at >= 0 && k + 1 < n; at -= chance[k])
        k++;
    return k;
}

/* Every seventh number is not seen, and none behind the first T - 3 of every fifth record. */
static void draw_sequences(void)
{
    world_uniform(1, N * T * 2, &u[0][0][0]);
    world_normal(2, N * T, &y[0][0]);
    for (int i = 0; i < N; i++)
        for (int t = 0, s = 0; t < T; t++) {
            s = choose(t == 0 ? initial : transition[s], K, u[i][t][0]);
            y[i][t] = mean[s] + sd * y[i][t];
            symbol[i][t] = choose(emission[s], V, u[i][t][1]);
            seen[i][t] = (i * T + t) % 7 != 0 && (i % 5 != 0 || t < T - 3);
        }
}

static dp_dataset *first_records(size_t n)
{
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_real(data, "y", T, &y[0][0]);
    dp_dataset_real(data, "seen", T, &seen[0][0]);
    return data;
}

static dp_dataset *records(bool symbols)
{
    dp_dataset *data = dp_dataset_new(N);
    if (symbols)
        dp_dataset_indices(data, "y", T, &symbol[0][0]);
    else
        dp_dataset_real(data, "y", T, &y[0][0]);
    dp_dataset_real(data, "seen", T, &seen[0][0]);
    return data;
}

static dp_fit *fit_of(const dp_hidden_markov_opts *o, const dp_dataset *data)
{
    dp_error err = {0};
    dp_model *m;
    dp_svi *svi;
    dp_fit *fit;
    assert_ok(dp_hidden_markov(o, &m, &err), err.text);
    assert_ok(dp_svi_new(m, NULL, data, &plain, &svi, &err), err.text);
    dp_model_free(m);
    assert_ok(dp_hidden_markov_start(svi, o, &err), err.text);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
    dp_svi_free(svi);
    return fit;
}

/* What a fit says of its chain. */
typedef struct said {
    double initial[K], transition[K][K], mean[K], sd[K], emission[K][V];
} said;

static double emitted(const said *s, int i, int t, int k, bool symbols)
{
    const double z = (y[i][t] - s->mean[k]) / s->sd[k];
    return seen[i][t] == 0 ? 1
           : symbols       ? s->emission[k][symbol[i][t]]
                           : exp(-0.5 * z * z) / (s->sd[k] * sqrt(2 * pi));
}

/* log p of record i, and the chances of its last state. */
static double log_density_of(const said *s, int i, bool symbols, double last[K])
{
    double log_density = 0;
    for (int t = 0; t < T; t++) {
        double next[K], sum = 0;
        for (int k = 0; k < K; k++) {
            double before = t == 0 ? s->initial[k] : 0;
            for (int j = 0; j < K && t > 0; j++)
                before += last[j] * s->transition[j][k];
            sum += next[k] = before * emitted(s, i, t, k, symbols);
        }
        for (int k = 0; k < K; k++)
            last[k] = next[k] / sum;
        log_density += log(sum);
    }
    return log_density;
}

static void assert_densities(dp_fit *fit, const dp_dataset *data, const said *s, bool symbols)
{
    static double density[N], chance[N][T][K];
    dp_error err = {0};
    const dp_given given = {.data = data};
    assert_ok(dp_fit_log_density(fit, &given, N, density, &err), err.text);
    world_value(fit, data, "state_probability", N * T * K, &chance[0][0][0]);
    for (int i = 0; i < N; i++) {
        double last[K];
        assert_close(density[i], log_density_of(s, i, symbols, last), 1e-10, 1e-10);
        for (int k = 0; k < K; k++)
            assert_close(chance[i][T - 1][k], last[k], 1e-9, 1e-12);
    }
}

static void said_of_chain(dp_fit *fit, said *s)
{
    world_value(fit, NULL, "initial", K, s->initial);
    world_value(fit, NULL, "transition", K * K, &s->transition[0][0]);
}

/* About 3700 numbers are seen, in more than 1200 of each state: chances of transitions are known to
 * 0.014 where states are seen as they are, and here to less than twice that. */
static void assert_transitions(const said *s)
{
    for (int k = 0; k < K; k++) {
        assert_close(s->transition[k][k], transition[k][k], 0, 6.2 * 0.028);
        assert_close(s->initial[k], initial[k], 0, 6.2 * 0.04);
    }
}

static void states_that_emit_numbers_are_found(void **state)
{
    (void)state;
    said s;
    const dp_hidden_markov_opts o = {.states = K, .times = T, .gaps = true, .stay = 2};
    draw_sequences();
    dp_dataset *data = records(false);
    dp_fit *fit = fit_of(&o, data);
    said_of_chain(fit, &s);
    world_value(fit, NULL, "mean", K, s.mean);
    world_value(fit, NULL, "sd", K, s.sd);
    assert_densities(fit, data, &s, false);
    assert_transitions(&s);
    for (int k = 0; k < K; k++) {
        assert_close(s.mean[k], mean[k], 0, 6.2 * 0.02);
        assert_close(s.sd[k], sd, 0, 6.2 * 0.02);
    }
    dp_fit_free(fit);
    dp_dataset_free(data);
}

/* In increasing order the states have one place each, so that draws from the posterior agree. */
static void ordered_states_have_one_posterior(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_model *m;
    dp_fit *fit;
    size_t n;
    said s;
    const dp_hidden_markov_opts o = {.states = K, .times = T, .gaps = true, .ordered = true};
    const dp_fit_opts exact = {.mode = DP_NO_PRIVACY, .method = DP_METHOD_EXACT, .seed = 1};
    draw_sequences();
    dp_dataset *data = first_records(30);
    fit = fit_of(&o, data);
    world_value(fit, NULL, "mean", K, s.mean);
    assert_true(s.mean[0] < s.mean[1]);
    dp_fit_free(fit);
    assert_ok(dp_hidden_markov(&o, &m, &err), err.text);
    assert_ok(dp_fit_private(m, data, &exact, &fit, &err), err.text);
    const dp_diagnostic *d = dp_fit_diagnostics(fit, &n);
    for (size_t k = 0; k < n; k++)
        assert_false(d[k].bad);
    for (size_t k = 0; k < K; k++)
        world_recovers(fit, "mean", K, k, mean[k], 6.2);
    dp_fit_free(fit);
    dp_model_free(m);
    dp_dataset_free(data);
}

static void states_that_emit_symbols_are_found(void **state)
{
    (void)state;
    said s;
    const dp_hidden_markov_opts o = {
        .states = K, .times = T, .symbols = V, .gaps = true, .stay = 2};
    draw_sequences();
    dp_dataset *data = records(true);
    dp_fit *fit = fit_of(&o, data);
    said_of_chain(fit, &s);
    world_value(fit, NULL, "emission", K * V, &s.emission[0][0]);
    assert_densities(fit, data, &s, true);
    assert_transitions(&s);
    for (int k = 0; k < K; k++)
        for (int v = 0; v < V; v++)
            assert_close(s.emission[k][v], emission[k][v], 0, 6.2 * 0.03);
    dp_fit_free(fit);
    dp_dataset_free(data);
}

/* A sequence of one time, seen everywhere, is a mixture; states are told apart by their start, also
 * where they are more than the symbols. */
static void starts_lie_apart(void **state)
{
    (void)state;
    enum { MANY = 5, FEW = 3 };
    double start[MANY][FEW - 1];
    dp_error err = {0};
    dp_model *m;
    dp_svi *svi;
    const dp_hidden_markov_opts o = {.states = MANY, .times = 1, .symbols = FEW};
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .seed = 2};
    static int32_t one[N];
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_indices(data, "y", 1, one);
    assert_ok(dp_hidden_markov(&o, &m, &err), err.text);
    assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
    assert_ok(dp_hidden_markov_start(svi, &o, &err), err.text);
    assert_ok(dp_svi_get(svi, "emission.loc", MANY * (FEW - 1), &start[0][0], &err), err.text);
    for (int k = 0; k < MANY; k++)
        for (int l = 0; l < k; l++)
            assert_true(hypot(start[k][0] - start[l][0], start[k][1] - start[l][1]) > 0.5);
    dp_svi_free(svi);
    dp_model_free(m);
    dp_dataset_free(data);
}

static void what_is_no_chain_is_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_model *m;
    dp_hidden_markov_opts o = {.states = 1, .times = 4};
    assert_fails(dp_hidden_markov(&o, &m, &err), DP_EINVAL, &err, "2 to 64 states");
    assert_null(m);
    o = (dp_hidden_markov_opts){.states = 2};
    assert_fails(dp_hidden_markov(&o, &m, &err), DP_EINVAL, &err, "at least 1 time");
    o = (dp_hidden_markov_opts){.states = 2, .times = 4, .symbols = 1};
    assert_fails(dp_hidden_markov(&o, &m, &err), DP_EINVAL, &err, "symbols are at least 2");
    o = (dp_hidden_markov_opts){.states = 2, .times = 4, .symbols = 3, .ordered = true};
    assert_fails(dp_hidden_markov(&o, &m, &err), DP_EINVAL, &err, "symbols have no order");
    o = (dp_hidden_markov_opts){.states = 64, .times = 4, .symbols = SIZE_MAX};
    assert_fails(dp_hidden_markov_start(NULL, &o, &err), DP_EINVAL, &err, "4096");
    o = (dp_hidden_markov_opts){.states = 2, .times = 4, .stay = -1};
    assert_fails(dp_hidden_markov(&o, &m, &err), DP_EDOMAIN, &err, "hidden_markov.c:");
    assert_null(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_that_emit_numbers_are_found),
        cmocka_unit_test(ordered_states_have_one_posterior),
        cmocka_unit_test(states_that_emit_symbols_are_found),
        cmocka_unit_test(starts_lie_apart),
        cmocka_unit_test(what_is_no_chain_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
