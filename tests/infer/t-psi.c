/* Clipped, centred scores against the law in many small cells: their mean is zero, their moments
 * and the expected count of distant outcomes are right, for every family that has a score. */
#include "infer/psi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/special.h"
#include "tests/dist/fine.h"
#include "tests/lib/numbers.h"

enum { K = MAX_NUMBERS, ROUNDS = 3 };

/* ---- a record of a family, without a model ---- */

typedef struct setting {
    const dist_case *c;
    const double *numbers; /* of the arguments */
    dpi_observation seen;
    dpi_model_view view;
    dpi_record record;
    dpi_law law;
    double gamma[K * K];
} setting;

/* Numbers `first` to `end` - 1 of the arguments are inferred. */
static void set(setting *s, const dist_case *c, const double *numbers, size_t first, size_t end)
{
    memset(s, 0, sizeof *s);
    s->c = c;
    s->numbers = numbers;
    s->seen.family = c->family;
    s->view.seen = &s->seen;
    s->record.arg_size = c->family->vector_arg ? c->n_numbers : 1;
    for (int a = 0; a < c->family->n_args; a++)
        s->record.arg[a] = numbers + a;
    for (size_t j = first; j < end; j++, s->view.k++) {
        s->view.arg_of[s->view.k] = c->family->vector_arg ? 0 : (int)j;
        s->view.element[s->view.k] = c->family->vector_arg ? j : 0;
    }
}

static void observe(setting *s, double y)
{
    s->record.y = y;
    assert_true(dpi_law_of(&s->view, &s->record, &s->law));
}

static uint64_t seed;

static double between(double low, double high)
{
    return low + (high - low) * 0.5 * (1 + next_number(&seed));
}

/* A random gamma for which E |s|^2 = size k: of full rank, of rank one, or diagonal. */
static void make_gamma(setting *s, double size, int how)
{
    size_t k = s->view.k;
    double root[K * K], fisher[K * K], trace = 0;
    observe(s, s->law.n > 0 ? s->record.y : 1);
    dpi_law_fisher(&s->law, fisher);
    for (size_t j = 0; j < k; j++)
        for (size_t l = 0; l < k; l++)
            root[j * k + l] = (how == 2 && j != l) || (how == 1 && l > 0)
                                  ? 0
                                  : between(-1, 1) / sqrt(fisher[j * k + j]);
    memset(s->gamma, 0, sizeof s->gamma);
    for (size_t j = 0; j < k; j++)
        for (size_t l = 0; l < k; l++)
            for (size_t e = 0; e < k; e++)
                s->gamma[j * k + l] += root[j * k + e] * root[l * k + e];
    for (size_t e = 0; e < k * k; e++)
        trace += s->gamma[e] * fisher[e];
    for (size_t e = 0; e < k * k; e++)
        s->gamma[e] *= size * (double)k / trace;
}

static double norm_of(const setting *s, const double *u)
{
    double sum = 0;
    for (size_t j = 0; j < s->view.k; j++)
        for (size_t l = 0; l < s->view.k; l++)
            sum += u[j] * s->gamma[j * s->view.k + l] * u[l];
    return sqrt(fmax(sum, 0));
}

/* ---- the law in cells ---- */

/* Means over the cells. */
typedef struct means {
    double psi[K], slope[K * K], variance[K * K];
    double excess; /* share beyond the clip norm */
} means;

/* The centre a: from s, clip(s - a) leads there. */
static void find_centre(setting *s, double clip, double *a)
{
    double psi[K] = {1};
    memset(s->law.own, 0, sizeof s->law.own);
    for (int t = 0; t < 50; t++) {
        assert_true(dpi_psi(&s->law, s->gamma, clip, psi));
        for (size_t j = 0; j < s->view.k; j++)
            s->law.own[j] -= psi[j];
    }
    assert_true(norm_of(s, psi) < 1e-9 * clip);
    memcpy(a, s->law.own, sizeof s->law.own);
}

/* clip(s - a), which is dpi_psi's: that is called for few of many cells. */
static void clipped(setting *s, double clip, const double *a, bool call, double *psi)
{
    double u[K], size;
    if (call)
        assert_true(dpi_psi(&s->law, s->gamma, clip, psi));
    for (size_t j = 0; j < s->view.k; j++)
        u[j] = s->law.own[j] - a[j];
    size = norm_of(s, u);
    for (size_t j = 0; j < s->view.k; j++) {
        u[j] *= fmin(1, clip / size);
        if (call && s->law.n > 2)
            assert_close(psi[j], u[j], 1e-9, 1e-9 * fabs(a[j]));
        psi[j] = call ? psi[j] : u[j];
    }
}

static void mean_over(setting *s, const fine_law *law, double clip, means *m)
{
    size_t k = s->view.k;
    double a[DPI_READ_MOST] = {0}, psi[K];
    memset(m, 0, sizeof *m);
    observe(s, law->y[0]);
    if (s->law.n > 2)
        find_centre(s, clip, a);
    for (size_t i = 0; i < law->n; i++) {
        observe(s, law->y[i]);
        clipped(s, clip, a, law->n <= 2 || i % 997 == 0, psi);
        m->excess += law->mass[i] * (norm_of(s, s->law.own) > clip);
        for (size_t j = 0; j < k; j++) {
            m->psi[j] += law->mass[i] * psi[j];
            for (size_t l = 0; l < k; l++) {
                m->slope[j * k + l] += law->mass[i] * psi[j] * s->law.own[l];
                m->variance[j * k + l] += law->mass[i] * psi[j] * psi[l];
            }
        }
    }
}

/* Every family at each of its arguments, with random gammas and clip norms from .5 sqrt k. */
static void each_law(void (*check)(setting *, double, const means *))
{
    static setting s;
    static const double clips[] = {0.5, 1, 2, 4}, sizes[] = {0.3, 1, 3};
    seed = 11;
    for (size_t f = 0; f < dpi_n_families; f++) {
        if (dpi_families[f]->score == NULL)
            continue;
        const dist_case *c = case_of(dpi_families[f]);
        for (int t = 0; t < N_TRIED; t++) {
            fine_law *law = fine_law_of(c, c->tried[t]);
            for (int round = 0; round < 4 * ROUNDS; round++) {
                size_t first = first_inferred(c), end = c->n_numbers;
                if (round % 3 == 1) { /* one number alone */
                    first += (size_t)round % (end - first);
                    end = first + 1;
                }
                set(&s, c, c->tried[t], first, end);
                make_gamma(&s, sizes[round % ROUNDS], round / 4);
                double clip = clips[round % 4] * sqrt((double)s.view.k);
                means m;
                mean_over(&s, law, clip, &m);
                check(&s, clip, &m);
            }
            free(law);
        }
    }
}

/* ---- checks ---- */

typedef struct tally {
    double total, worst;
    size_t n;
} tally;

static tally of_mean, of_moments, of_excess, of_excess_by_steps;

static void count(tally *t, double off)
{
    t->total += off;
    t->worst = fmax(t->worst, off);
    t->n++;
}

static void assert_small(const tally *t, double mean, double most)
{
    if (!(t->total <= mean * (double)t->n && t->worst <= most))
        fail_msg("off by %g in the mean and %g at most, of %zu", t->total / (double)t->n, t->worst,
                 t->n);
    assert_true(t->n > 500);
}

/* Relative to the information, number by number. */
static double moments_off(setting *s, double clip, const means *m)
{
    size_t k = s->view.k;
    double slope[K * K], variance[K * K], fisher[K * K], off = 0;
    dpi_law_fisher(&s->law, fisher);
    dpi_psi_moments(&s->law, s->gamma, clip, slope, variance);
    for (size_t j = 0; j < k; j++)
        for (size_t l = 0; l < k; l++) {
            double unit = sqrt(fisher[j * k + j] * fisher[l * k + l]);
            off = fmax(off, fabs(slope[j * k + l] - m->slope[j * k + l]) / unit);
            off = fmax(off, fabs(variance[j * k + l] - m->variance[j * k + l]) / unit);
        }
    return off;
}

static void check(setting *s, double clip, const means *m)
{
    double beyond = norm_of(s, s->law.own) > clip;
    count(&of_mean, norm_of(s, m->psi) / clip);
    count(&of_moments, moments_off(s, clip, m));
    double excess_off = fabs(beyond - dpi_psi_excess(&s->law, s->gamma, clip) - m->excess);
    count(&of_excess, excess_off);
    if (s->c->cdf == NULL && s->law.smooth)
        count(&of_excess_by_steps, excess_off);
}

static void clipped_scores_have_mean_zero(void **state)
{
    (void)state;
    each_law(check);
    assert_small(&of_mean, 5e-5, 2e-3);
}

/* By the same walk. */
static void their_moments_are_those_of_the_law(void **state)
{
    (void)state;
    assert_small(&of_moments, 2e-4, 1e-2);
}

static void as_many_are_expected_beyond_as_there_are(void **state)
{
    (void)state;
    assert_small(&of_excess, 6e-4, 3e-2);
}

/* A node that stands for ten counts has up to .06 of the law: it is shared out where the clip norm
 * is passed between two, as for continuous laws, or the count would be off by .037. */
static void as_many_are_expected_of_counts_by_steps(void **state)
{
    (void)state;
    assert_true(of_excess_by_steps.n >= 36);
    assert_true(of_excess_by_steps.worst <= 1.2e-2);
}

/* CLIPPING: h = (y - p) x min(1, C / (|x| max(p, 1 - p))). */
static void two_outcomes_share_one_factor(void **state)
{
    static setting s;
    (void)state;
    for (double logit = -5; logit < 5; logit += 0.83)
        for (double x = 0.2; x < 9; x *= 1.9)
            for (double y = 0; y < 2; y++) {
                double p = dpi_logistic(logit), psi, slope, variance;
                double share = fmin(1, 1.3 / (x * fmax(p, 1 - p)));
                set(&s, case_of(&dpi_bernoulli_logit), &logit, 0, 1);
                observe(&s, y);
                s.gamma[0] = x * x;
                assert_true(dpi_psi(&s.law, s.gamma, 1.3, &psi));
                assert_close(psi, (y - p) * share, 1e-14, 0);
                dpi_psi_moments(&s.law, s.gamma, 1.3, &slope, &variance);
                assert_close(slope, p * (1 - p) * share, 1e-14, 0);
                assert_close(variance, p * (1 - p) * share * share, 1e-14, 0);
            }
}

/* |h| is x (1 - p) where the outcome is 1 and x p where it is 0; they tell by p (1 - p)^2 and
 * (1 - p) p^2, that is by 1 - p and p of p (1 - p). */
static void lengths_are_those_of_both_outcomes(void **state)
{
    static setting s;
    (void)state;
    for (double logit = -5; logit < 5; logit += 0.83)
        for (double x = 0.01; x < 90; x *= 1.9) {
            double p = dpi_logistic(logit), q = 1 - p;
            double a = fmax(fmin(log(x * q / 0.7), 2), -2), b = fmax(fmin(log(x * p / 0.7), 2), -2);
            set(&s, case_of(&dpi_bernoulli_logit), &logit, 0, 1);
            observe(&s, 1);
            s.gamma[0] = x * x;
            dpi_lengths found = dpi_psi_lengths(&s.law, s.gamma, 0.7, 2);
            assert_close(found.square, x * x * p * q, 1e-13, 0);
            assert_close(found.first, q * a + p * b, 1e-13, 1e-13);
            assert_close(found.second, q * a * a + p * b * b, 1e-13, 1e-13);
        }
}

static void lengths_that_are_none_tell_nothing(void **state)
{
    static setting s;
    static const double sizes[] = {0, -1, 1e308, INFINITY, NAN};
    double logit = 0.3;
    (void)state;
    set(&s, case_of(&dpi_bernoulli_logit), &logit, 0, 1);
    observe(&s, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        s.gamma[0] = sizes[i];
        dpi_lengths found = dpi_psi_lengths(&s.law, s.gamma, 1e-3, 2);
        assert_true(found.square >= 0 && isfinite(found.square));
        assert_true(fabs(found.first) <= 2 && found.second >= 0 && found.second <= 4);
        assert_true(sizes[i] > 0 || found.square == 0);
    }
}

/* Where the number in which a law is even stands alone, half of the nodes are looked at; all of
 * them where it is joined to another one by next to nothing. */
static void half_of_an_even_law_tells_what_all_of_it_does(void **state)
{
    static setting s;
    size_t tried = 0;
    (void)state;
    seed = 23;
    for (size_t f = 0; f < dpi_n_families; f++) {
        const dist_case *c = case_of(dpi_families[f]);
        const size_t odd = (size_t)c->family->odd_in - 1, first = first_inferred(c);
        for (int t = 0; t < N_TRIED * ROUNDS && c->family->odd_in > 0 && c->n_numbers > 1; t++) {
            double half[K], all[K], unit;
            set(&s, c, c->tried[t % N_TRIED], first, c->n_numbers);
            const size_t k = s.view.k, other = odd == first ? odd + 1 : first;
            make_gamma(&s, between(0.3, 3), 0);
            for (size_t j = 0; j < k; j++)
                if (j != odd - first)
                    s.gamma[j * k + odd - first] = s.gamma[(odd - first) * k + j] = 0;
            unit = sqrt(s.gamma[0] * s.gamma[k * k - 1]);
            assert_true(dpi_psi(&s.law, s.gamma, 0.8, half));
            s.gamma[(odd - first) * k + other - first] = 1e-12 * unit;
            s.gamma[(other - first) * k + odd - first] = 1e-12 * unit;
            assert_true(dpi_psi(&s.law, s.gamma, 0.8, all));
            for (size_t j = 0; j < k; j++)
                half[j] -= all[j];
            assert_true(norm_of(&s, half) < 1e-6 * 0.8);
            tried++;
        }
    }
    assert_true(tried >= 5 * N_TRIED * ROUNDS);
}

/* ---- laws that are kept ---- */

/* Records of one family in turn, with shapes that change and that do not. */
static void a_law_does_not_depend_on_the_record_before(void **state)
{
    static setting kept, fresh;
    static const double numbers[][K] = {{2.5, 0.3, 0.7}, {2.5, -4, 0.7}, {2.5, 0.3, 20},
                                        {7, 0.3, 0.7},   {0, 0.3, 0.7},  {2.5, 0.3, 0.7}};
    (void)state;
    set(&kept, case_of(&dpi_student_t), numbers[0], 0, 3);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        set(&fresh, kept.c, numbers[i], 0, 3);
        for (size_t e = 0; e < 3; e++)
            kept.record.arg[e] = numbers[i] + e;
        kept.record.y = fresh.record.y = 1.1;
        bool has = dpi_law_of(&kept.view, &kept.record, &kept.law);
        assert_int_equal(has, numbers[i][0] > 0);
        assert_int_equal(has, dpi_law_of(&fresh.view, &fresh.record, &fresh.law));
        double a[K * K], b[K * K], gamma[K * K] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        if (!has)
            continue;
        dpi_law_fisher(&kept.law, a);
        dpi_law_fisher(&fresh.law, b);
        assert_memory_equal(a, b, 9 * sizeof *a);
        assert_true(dpi_psi(&kept.law, gamma, 0.5, a) && dpi_psi(&fresh.law, gamma, 0.5, b));
        assert_memory_equal(a, b, 3 * sizeof *a);
    }
}

/* As the family itself has the nodes at the record's arguments. */
static void the_information_is_that_at_the_arguments(void **state)
{
    static setting s;
    (void)state;
    for (size_t f = 0; f < dpi_n_families; f++) {
        const dist_case *c = case_of(dpi_families[f]);
        for (int t = 0; t < N_TRIED && c->family->score != NULL; t++) {
            double y[DPI_MOST_OUTCOMES], mass[DPI_MOST_OUTCOMES], fisher[K * K];
            double score[DPI_MOST_OUTCOMES * K];
            set(&s, c, c->tried[t], first_inferred(c), c->n_numbers);
            observe(&s, 1);
            dpi_law_fisher(&s.law, fisher);
            size_t n = dpi_outcomes(c->family, s.record.arg, s.record.arg_size, y, mass);
            c->family->score(n, y, s.record.arg, s.record.arg_size, score);
            for (size_t j = 0; j < s.view.k; j++)
                for (size_t l = 0; l < s.view.k; l++) {
                    size_t first = first_inferred(c), all = c->n_numbers;
                    double sum = 0, unit;
                    for (size_t i = 0; i < n; i++)
                        sum += mass[i] * score[i * all + first + j] * score[i * all + first + l];
                    unit = sqrt(fisher[j * s.view.k + j] * fisher[l * s.view.k + l]);
                    assert_close(fisher[j * s.view.k + l], sum, 0, 1e-9 * unit);
                }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clipped_scores_have_mean_zero),
        cmocka_unit_test(their_moments_are_those_of_the_law),
        cmocka_unit_test(as_many_are_expected_beyond_as_there_are),
        cmocka_unit_test(as_many_are_expected_of_counts_by_steps),
        cmocka_unit_test(two_outcomes_share_one_factor),
        cmocka_unit_test(lengths_are_those_of_both_outcomes),
        cmocka_unit_test(lengths_that_are_none_tell_nothing),
        cmocka_unit_test(half_of_an_even_law_tells_what_all_of_it_does),
        cmocka_unit_test(a_law_does_not_depend_on_the_record_before),
        cmocka_unit_test(the_information_is_that_at_the_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
