/* Rows of counts: densities in textbook form, mass 1 over all rows, derivatives by differences,
 * draws by chi-square over all rows, means, and draws at extremes. */
#include "dist/family.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include <tacit/svi.h>

#include "exec/run.h"
#include "tests/dist/joint.h"

enum { K = 3, N = 4, ROWS = 15 };
static const char *const shapes[] = {"", "3"};
static const struct {
    const dpi_family *family;
    double arg[K];
} tried[] = {
    {&dpi_multinomial_logit, {0.713, -0.39, 1.21}},
    {&dpi_multinomial_logit, {901.3, 902.1, 900.7}},
    {&dpi_dirichlet_multinomial, {0.713, 1.39, 2.21}},
    {&dpi_dirichlet_multinomial, {0.0713, 31.9, 0.39}},
};
enum { TRIED = sizeof tried / sizeof tried[0] };

/* Row number i of those that sum to N. */
static void counts_of(size_t i, double x[K])
{
    size_t at = 0;
    for (int a = 0; a <= N; a++)
        for (int b = 0; a + b <= N; b++)
            if (at++ == i)
                x[0] = a, x[1] = b, x[2] = N - a - b;
}

/* As products: of chances, or of Polya's urn. */
static double textbook(const dpi_family *f, const double x[K], const double arg[K])
{
    double p = tgamma(N + 1), whole = 0, drawn = 0, top = fmax(arg[0], fmax(arg[1], arg[2]));
    const bool urn = f == &dpi_dirichlet_multinomial;
    for (int k = 0; k < K; k++)
        whole += urn ? arg[k] : exp(arg[k] - top);
    for (int k = 0; k < K; k++) {
        p /= tgamma(x[k] + 1);
        for (int i = 0; i < (int)x[k]; i++, drawn += urn ? 1 : 0)
            p *= (urn ? arg[k] + i : exp(arg[k] - top)) / (whole + drawn);
    }
    return p;
}

static void fill(double number[1 + 2 * K], const double x[K], const double arg[K])
{
    number[K] = N;
    for (int k = 0; k < K; k++) {
        number[k] = x[k];
        number[K + 1 + k] = arg[k];
    }
}

static void densities_are_those_of_the_textbook(void **state)
{
    (void)state;
    for (size_t t = 0; t < TRIED; t++) {
        double total = 0, x[K], number[1 + 2 * K], slope[1 + 2 * K];
        joint j;
        joint_open(&j, tried[t].family, K, shapes, false);
        for (size_t i = 0; i < ROWS; i++) {
            counts_of(i, x);
            fill(number, x, tried[t].arg);
            double value = joint_at(&j, number, slope),
                   p = textbook(tried[t].family, x, tried[t].arg);
            assert_close(value, log(p), 1e-12, 1e-12);
            total += p;
            for (size_t k = K + 1; k < 1 + 2 * K; k++) {
                double kept = number[k], h = 1e-5 * fmin(1, fabs(kept));
                number[k] = kept + h;
                double up = joint_at(&j, number, NULL);
                number[k] = kept - h;
                double down = joint_at(&j, number, NULL);
                number[k] = kept;
                assert_close(slope[k], (up - down) / (2 * h), 1e-6, 1e-6 + 1e-12 / h);
            }
        }
        assert_close(total, 1, 1e-12, 0);
        joint_close(&j);
    }
}

/* Concentrations of 1e10 and the logits of their logarithms: off by their inverse. */
static void large_concentrations_are_multinomial(void **state)
{
    (void)state;
    double x[K], number[1 + 2 * K], c[K] = {1e10, 3e10, 2.5e10}, logits[K];
    joint of_c, of_logits;
    joint_open(&of_c, &dpi_dirichlet_multinomial, K, shapes, false);
    joint_open(&of_logits, &dpi_multinomial_logit, K, shapes, false);
    for (int k = 0; k < K; k++)
        logits[k] = log(c[k]);
    for (size_t i = 0; i < ROWS; i++) {
        counts_of(i, x);
        fill(number, x, c);
        double value = joint_at(&of_c, number, NULL);
        fill(number, x, logits);
        assert_close(value, joint_at(&of_logits, number, NULL), 0, 2e-9);
    }
    joint_close(&of_c);
    joint_close(&of_logits);
}

/* Values by mpmath with 60 digits.  Terms are of the size n log n, of which 4e-16 is rounding. */
static void extreme_concentrations_and_counts_keep_their_digits(void **state)
{
    const struct {
        double x[K], c[K], value;
    } far[] = {
        {{3, 0, 0}, {1e-10, 1e-10, 1e-10}, -1.09861228896810969},
        {{1, 1, 1}, {1e-10, 1e-10, 1e-10}, -46.0517018603309136},
        {{1e9, 0, 5}, {1e-10, 1e-10, 1e-10}, -25.7339011300944299},
        {{1e9, 0, 5}, {1e10, 1e10, 1e10}, -1066684725.1926865},
        {{1e9, 1e9, 1e9}, {1e10, 1e-10, 2.5}, -3671656793.18555086},
        {{0, 0, 0}, {1e10, 1e-10, 2.5}, 0},
        {{1e9, 1e9, 1e9}, {0.5, 1.5, 2.5}, -43.574203689651138},
    };
    (void)state;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        double number[1 + 2 * K], slope[1 + 2 * K], n = 0;
        joint j;
        joint_open(&j, &dpi_dirichlet_multinomial, K, shapes, false);
        for (size_t e = 0; e < K; e++) {
            n += number[e] = far[i].x[e];
            number[K + 1 + e] = far[i].c[e];
        }
        number[K] = n;
        assert_close(joint_at(&j, number, slope), far[i].value, 1e-12,
                     1e-12 + 4e-16 * n * log(n + 1));
        for (size_t e = K + 1; e < 1 + 2 * K; e++)
            assert_true(isfinite(slope[e]));
        joint_close(&j);
    }
}

/* 14 degrees of freedom; each of 4 tests fails by chance with 1e-11. */
static void draws_follow_the_distribution(void **state)
{
    (void)state;
    static double out[K * N_DRAWS];
    const double trials = N;
    for (size_t t = 0; t < TRIED; t++) {
        double chi = 0, seen[ROWS] = {0}, x[K];
        size_t cells = 0;
        dp_rng *rng;
        gsl_rng source = source_of(31 + t, &rng);
        dpi_draw_site(tried[t].family, &source, (const double *[]){&trials, tried[t].arg},
                      (const size_t[]){1, K}, (size_t)K * N_DRAWS, K, out);
        for (size_t d = 0; d < N_DRAWS; d++)
            for (size_t i = 0; i < ROWS; i++) {
                counts_of(i, x);
                seen[i] += x[0] == out[K * d] && x[1] == out[K * d + 1] && x[2] == out[K * d + 2];
            }
        double rest = N_DRAWS, rest_seen = N_DRAWS;
        for (size_t i = 0; i < ROWS; i++) {
            counts_of(i, x);
            double expected = N_DRAWS * textbook(tried[t].family, x, tried[t].arg);
            if (expected < 100)
                continue;
            chi += (seen[i] - expected) * (seen[i] - expected) / expected;
            rest -= expected;
            rest_seen -= seen[i];
            cells++;
        }
        chi += rest > 1 ? (rest_seen - rest) * (rest_seen - rest) / rest : 0;
        assert_true(cells > 2 && gsl_cdf_chisq_Q(chi, (double)cells) >= 1e-11);
        dp_rng_free(rng);
    }
}

static void means_are_sums_over_rows(void **state)
{
    (void)state;
    for (size_t t = 0; t < TRIED; t++) {
        dpi_arena arena = {0};
        dp_error err = {0};
        dpi_graph g;
        dpi_run *run;
        const char *why;
        double found[K], x[K], sum[K] = {0};
        dpi_graph_init(&g, &arena, &err);
        const dpi_id arg[] = {dpi_constant(&g, N),
                              dpi_constant_array(&g, dpi_vector(K, false), tried[t].arg)};
        dpi_id mean = dpi_mean(&g, tried[t].family, arg, &why);
        dpi_run_spec spec = {.graph = &g, .wanted = &mean, .n_wanted = 1, .chunk = 1};
        assert_ok(dpi_run_new(&spec, &run, &err), err.text);
        dpi_run_globals(run);
        dpi_run_read(run, mean, 0, K, found);
        for (size_t i = 0; i < ROWS; i++) {
            counts_of(i, x);
            for (int k = 0; k < K; k++)
                sum[k] += x[k] * textbook(tried[t].family, x, tried[t].arg);
        }
        for (int k = 0; k < K; k++)
            assert_close(found[k], sum[k], 1e-12, 0);
        dpi_run_free(run);
        dpi_arena_free(&arena);
    }
}

static void draws_sum_to_the_trials_however_far_arguments_are(void **state)
{
    (void)state;
    static const double args[][K] = {{-1e5, 1e5, 0}, {1e300, 1e300, -1e300}, {-800, -1600, -2400}};
    static const double concentrations[][K] = {{1e-300, 1e-300, 1e-300}, {1e300, 1, 1e-300}};
    dp_rng *rng;
    gsl_rng source = source_of(5, &rng);
    for (size_t i = 0; i < 5; i++) {
        const double trials = i % 2 ? 17 : 1e12, *arg = i < 3 ? args[i] : concentrations[i - 3];
        double x[K];
        for (int d = 0; d < 200; d++) {
            dpi_draw_site(i < 3 ? &dpi_multinomial_logit : &dpi_dirichlet_multinomial, &source,
                          (const double *[]){&trials, arg}, (const size_t[]){1, K}, K, K, x);
            assert_true(x[0] >= 0 && x[1] >= 0 && x[2] >= 0 && x[0] + x[1] + x[2] == trials);
        }
    }
    double x[K];
    const double bad[K] = {0, NAN, 1}, trials = 3;
    dpi_draw_site(&dpi_multinomial_logit, &source, (const double *[]){&trials, bad},
                  (const size_t[]){1, K}, K, K, x);
    assert_true(isnan(x[0]) && isnan(x[1]) && isnan(x[2]));
    dp_rng_free(rng);
}

typedef enum seen_as { PLAIN, WEIGHTED, PRESENT } seen_as;

static dp_dist as_seen(seen_as as, dp_dist dist, dp_plate rows)
{
    return as == PLAIN      ? dist
           : as == WEIGHTED ? dp_weighted(dist, dp_data(rows, "own", 1), 2)
                            : dp_present(dist, dp_data(rows, "own", 1));
}

typedef dp_dist law(dp_expr trials, dp_expr of_each);

/* The status of a run with y = (1, 1) in each record but the second, which has (second, 1) and the
 * weight `own`. */
static dp_status run(dp_dist of_row, dp_model *m, seen_as as, const double seen[2], dp_error *err)
{
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_observe(rows, "y", as_seen(as, of_row, rows));
    const double y[] = {1, 1, seen[0], 1, 1, 1}, own[] = {1, seen[1], 1};
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 1, .seed = 1};
    dp_dataset *data = dp_dataset_new(3);
    dp_svi *svi;
    dp_dataset_real(data, "y", 2, y);
    dp_dataset_real(data, "own", 1, own);
    dp_status status = dp_svi_new(m, NULL, data, &opts, &svi, err);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
    return status;
}

static dp_status run_of(law *of, seen_as as, double second, double own, dp_error *err)
{
    dp_model *m = dp_model_new();
    dp_expr w = dp_sample(m, "w", 1, dp_half_normal(1));
    return run(of(dp_num(2), dp_concat(w, dp_num(1))), m, as, (const double[]){second, own}, err);
}

static void observed_rows_sum_to_their_trials(void **state)
{
    (void)state;
    law *const laws[] = {dp_dirichlet_multinomial, dp_multinomial_logit};
    for (int k = 0; k < 2; k++)
        for (seen_as as = PLAIN; as <= PRESENT; as++) {
            dp_error err = {0};
            assert_ok(run_of(laws[k], as, 1, 1, &err), err.text);
            assert_fails(run_of(laws[k], as, 0, 1, &err), DP_EDATA, &err,
                         "record 1 (from 0): the counts do not");
            assert_fails(run_of(laws[k], as, 3, 1, &err), DP_EDATA, &err,
                         "to the number of trials");
            if (as == PRESENT)
                assert_ok(run_of(laws[k], as, 0, 0, &err), err.text);
        }
}

/* Arguments of one category, and those that do not tell how many there are. */
static void one_category_is_refused(void **state)
{
    (void)state;
    law *const laws[] = {dp_dirichlet_multinomial, dp_multinomial_logit};
    for (int k = 0; k < 2; k++)
        for (seen_as as = PLAIN; as <= PRESENT; as++)
            for (int sliced = 0; sliced < 2; sliced++) {
                dp_error err = {0};
                dp_model *m = dp_model_new();
                dp_expr w = dp_sample(m, "w", 3, dp_half_normal(1));
                dp_expr each = sliced ? dp_slice(w, 0, 1) : dp_num(0.7);
                assert_fails(run(laws[k](dp_num(2), each), m, as, (const double[]){1, 1}, &err),
                             DP_ESHAPE, &err, "needs a vector [K], K >= 2, as argument");
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(densities_are_those_of_the_textbook),
        cmocka_unit_test(large_concentrations_are_multinomial),
        cmocka_unit_test(extreme_concentrations_and_counts_keep_their_digits),
        cmocka_unit_test(draws_follow_the_distribution),
        cmocka_unit_test(means_are_sums_over_rows),
        cmocka_unit_test(observed_rows_sum_to_their_trials),
        cmocka_unit_test(one_category_is_refused),
        cmocka_unit_test(draws_sum_to_the_trials_however_far_arguments_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
