/* Units of several records whose outcomes are counts, rows of counts, levels, weighted, missing or
 * known in part: a unit's scores are added up before they are clipped, once. */
#include <math.h>
#include <string.h>

#include <tacit/dist-counts.h>
#include <tacit/forms.h>

#include "svi/svi.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { UNITS = 30, ROWS = 150, K = 3, MOST = 16 };

/* Unit u has the records that are u modulo UNITS, and unit 0 those of 1 too; columns wild enough
 * that scores go from almost nothing to far beyond a clip norm. */
typedef struct records {
    size_t n;
    double x[ROWS], y[ROWS], wide[ROWS * K], trials[ROWS], weight[ROWS], flag[ROWS], side[ROWS],
        upper[ROWS];
    int32_t person[ROWS], level[ROWS];
} records;

static void fill(records *r)
{
    uint64_t seed = 23;
    r->n = ROWS;
    for (size_t i = 0; i < ROWS; i++) {
        r->x[i] = 40 * pow(next_number(&seed), 5);
        r->y[i] = floor(9 * fabs(next_number(&seed)));
        r->trials[i] = 0;
        for (size_t k = 0; k < K; k++)
            r->trials[i] += r->wide[i * K + k] = floor(20 * fabs(next_number(&seed)));
        r->weight[i] = i % 7 == 0 ? 0 : 2 * fabs(next_number(&seed));
        r->flag[i] = i % 3 > 0;
        r->side[i] = (double)(i % 4) - 1;
        r->upper[i] = r->y[i] + 2;
        r->level[i] = (int32_t)(i % 4);
        r->person[i] = (int32_t)(i % UNITS == 1 ? 0 : i % UNITS);
    }
}

/* Takes the records of a unit out, from the middle too. */
static void leave_out(records *r, int32_t unit)
{
    size_t to = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (r->person[i] == unit)
            continue;
        r->x[to] = r->x[i];
        r->y[to] = r->y[i];
        memmove(r->wide + to * K, r->wide + i * K, K * sizeof *r->wide);
        r->trials[to] = r->trials[i];
        r->weight[to] = r->weight[i];
        r->flag[to] = r->flag[i];
        r->side[to] = r->side[i];
        r->upper[to] = r->upper[i];
        r->level[to] = r->level[i];
        r->person[to++] = r->person[i];
    }
    r->n = to;
}

/* What is observed, and the column that it is. */
typedef struct page {
    dp_model *m;
    dp_plate rows;
    dp_expr eta, wide, cut;
} page;

static dp_dist multinomial(page p)
{
    return dp_multinomial_logit(dp_data(p.rows, "trials", 1), p.wide);
}

static dp_dist dirichlet_multinomial(page p)
{
    return dp_dirichlet_multinomial(dp_data(p.rows, "trials", 1), dp_exp(p.wide));
}

static dp_dist maybe_multinomial(page p)
{
    return dp_present(multinomial(p), dp_data(p.rows, "flag", 1));
}

static dp_dist levels(page p)
{
    return dp_ordered_logistic(p.eta, p.cut);
}

static dp_dist normal_levels(page p)
{
    return dp_weighted(dp_ordered_probit(p.eta, p.cut), dp_data(p.rows, "weight", 1), 2);
}

static dp_dist negative_binomial(page p)
{
    return dp_negative_binomial_log(p.eta, dp_exp(dp_slice(p.wide, 0, 1)));
}

static dp_dist weighted(page p)
{
    return dp_weighted(negative_binomial(p), dp_data(p.rows, "weight", 1), 2);
}

static dp_dist missing(page p)
{
    return dp_present(dp_normal_v(p.eta, dp_num(0.5)), dp_data(p.rows, "flag", 1));
}

static dp_dist censored(page p)
{
    return dp_interval_censored(dp_normal_v(p.eta, dp_num(0.5)), dp_data(p.rows, "side", 1),
                                dp_data(p.rows, "upper", 1));
}

static const struct {
    const char *column;
    dp_dist (*of)(page p);
} seen[] = {{"wide", multinomial},
            {"wide", dirichlet_multinomial},
            {"wide", maybe_multinomial},
            {"level", levels},
            {"level", normal_levels},
            {"y", negative_binomial},
            {"y", weighted},
            {"y", missing},
            {"y", censored}};
enum { SEEN = sizeof seen / sizeof *seen };

static dp_dataset *data_of(const records *r, bool grouped)
{
    dp_dataset *data = dp_dataset_new(r->n);
    dp_dataset_real(data, "x", 1, r->x);
    dp_dataset_real(data, "y", 1, r->y);
    dp_dataset_real(data, "wide", K, r->wide);
    dp_dataset_real(data, "trials", 1, r->trials);
    dp_dataset_real(data, "weight", 1, r->weight);
    dp_dataset_real(data, "flag", 1, r->flag);
    dp_dataset_real(data, "side", 1, r->side);
    dp_dataset_real(data, "upper", 1, r->upper);
    dp_dataset_index(data, "level", r->level);
    dp_dataset_index(data, "person", r->person);
    if (grouped)
        dp_dataset_unit(data, "person");
    return data;
}

/* The first release; guides are so narrow that every record has the same draws of latents.  Returns
 * how many numbers it has. */
static size_t release_of(size_t k, const records *r, bool grouped, double clip, double sum[MOST])
{
    dp_error err = {0};
    dp_svi *svi;
    const dp_svi_opts opts = {
        .mode = DP_WITHOUT_GUARANTEE, .clip = clip, .steps = 1, .seed = 1, .init_scale = 1e-26};
    page p = {.m = dp_model_new()};
    p.rows = dp_unit_plate(p.m, "rows");
    dp_expr x = dp_data(p.rows, "x", 1), w = dp_sample(p.m, "w", 1, dp_normal(0, 1)),
            v = dp_sample(p.m, "v", K, dp_normal(0, 1));
    p.eta = dp_mul(x, w);
    p.wide = v;
    p.cut = dp_constant(p.m, 3, (double[]){-1, 0.2, 1.5});
    dp_observe(p.rows, seen[k].column, seen[k].of(p));
    dp_dataset *data = data_of(r, grouped);
    assert_ok(dp_svi_new(p.m, NULL, data, &opts, &svi, &err), err.text);
    assert_ok(dp_svi_step(svi, &err), err.text);
    const size_t n = svi->objective.n_release;
    assert_true(n <= MOST);
    memcpy(sum, svi->release.out, n * sizeof *sum);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(p.m);
    return n;
}

static double distance(size_t n, const double *a, const double *b)
{
    double square = 0;
    for (size_t e = 0; e < n; e++)
        square += (a[e] - b[e]) * (a[e] - b[e]);
    return sqrt(square);
}

/* With a clip norm that all units exceed, one less moves the sum by one, and its records, each
 * clipped, by as many as it has that are seen. */
static void one_unit_less_is_one_clip(void **state)
{
    (void)state;
    static records all, less;
    for (size_t k = 0; k < SEEN; k++)
        for (int c = 0; c < 2; c++) {
            const double clip = c == 0 ? 1e-3 : 3;
            double most = 0, as_records = 0, before[MOST], after[MOST];
            fill(&all);
            for (int32_t unit = 0; unit < UNITS; unit += unit == 0 ? 2 : 5)
                for (int grouped = 0; grouped < 2; grouped++) {
                    fill(&less);
                    leave_out(&less, unit);
                    size_t n = release_of(k, &all, grouped, clip, before);
                    (void)release_of(k, &less, grouped, clip, after);
                    const double moved = distance(n, before, after) / clip;
                    if (grouped && !(moved <= 1))
                        fail_msg("law %zu, unit %d: the sum moves by %.17g clips", k, unit, moved);
                    if (grouped)
                        most = fmax(most, moved);
                    else
                        as_records = fmax(as_records, moved);
                }
            assert_true(c == 1 || most > 0.99);
            assert_true(most > 0.1 && as_records > most);
        }
}

/* Under a clip norm that nothing exceeds, units and records have the same sum. */
static void without_clipping_units_are_their_records(void **state)
{
    (void)state;
    static records all;
    double of_units[MOST], of_records[MOST], none[MOST] = {0};
    fill(&all);
    for (size_t k = 0; k < SEEN; k++) {
        size_t n = release_of(k, &all, true, 1e9, of_units);
        (void)release_of(k, &all, false, 1e9, of_records);
        assert_true(distance(n, of_units, of_records) <= 1e-7 * distance(n, of_records, none));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_unit_less_is_one_clip),
        cmocka_unit_test(without_clipping_units_are_their_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
