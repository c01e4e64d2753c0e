/* Scores of outcomes that are weighted, missing or known in part.
 *
 * Whatever hides an outcome, the mean of its clipped score is 0: outcomes are put into many small
 * cells by the tests' own distribution functions, those beyond a time that ends the watch, or in an
 * interval that is not looked into, are handed in as such, and all are added up. */
#include "infer/psi.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dist/form.h"
#include "tests/dist/fine.h"
#include "tests/lib/numbers.h"

enum { K = 3 };

typedef struct setting {
    const dist_case *c;
    const double *numbers;
    dpi_arena rows;
    dpi_observation seen;
    dpi_model_view view;
    dpi_record record;
    dpi_law law;
    double own[DPI_FORM_ARGS], gamma[K * K];
    int first;
} setting;

/* All arguments of the base in that form are inferred. */
static void open_setting(setting *s, const dist_case *c, const double *numbers, dpi_form_code form)
{
    dpi_no_form wrong;
    const dp_dist dist = {.family = c->family, .form = {(unsigned char)form}};
    memset(s, 0, sizeof *s);
    s->c = c;
    s->numbers = numbers;
    s->seen.family = dpi_dist_family(&s->rows, &dist, &wrong);
    assert_non_null(s->seen.family);
    s->first = dpi_forms[form]->n_args;
    s->view.seen = &s->seen;
    s->record.arg_size = 1;
    for (int k = 0; k < s->first; k++)
        s->record.arg[k] = &s->own[k];
    for (int k = 0; k < c->family->n_args; k++) {
        s->record.arg[s->first + k] = numbers + k;
        s->view.arg_of[s->view.k++] = s->first + k;
    }
}

static void close_setting(setting *s)
{
    dpi_arena_free(&s->rows);
}

static void observe(setting *s, double y, double first, double second)
{
    s->record.y = y;
    s->own[0] = first;
    s->own[1] = second;
    assert_true(dpi_law_of(&s->view, &s->record, &s->law));
}

static double norm_of(const setting *s, const double *u)
{
    double sum = 0;
    for (size_t j = 0; j < s->view.k; j++)
        for (size_t l = 0; l < s->view.k; l++)
            sum += u[j] * s->gamma[j * s->view.k + l] * u[l];
    return sqrt(fmax(sum, 0));
}

/* In units of the information, with some correlation. */
static void make_gamma(setting *s)
{
    double fisher[K * K];
    const size_t k = s->view.k;
    observe(s, 1, 0, 0);
    dpi_law_fisher(&s->law, fisher);
    for (size_t j = 0; j < k; j++)
        for (size_t l = 0; l < k; l++)
            s->gamma[j * k + l] = (j == l ? 1 : 0.3) / sqrt(fisher[j * k + j] * fisher[l * k + l]);
}

/* ---- what is known in part ---- */

/* Adds up over outcomes, those above low and up to high being known to be there and no more. */
typedef struct sums {
    double psi[K], slope[K * K], variance[K * K], said[K * K], varies[K * K], fisher[K * K],
        square[K * K], excess;
} sums;

static void add(setting *s, double mass, double clip, sums *m)
{
    const size_t k = s->view.k;
    double psi[K], slope[K * K], variance[K * K], fisher[K * K];
    assert_true(dpi_psi(&s->law, s->gamma, clip, psi));
    assert_true(norm_of(s, psi) <= clip * (1 + 1e-12));
    dpi_psi_moments(&s->law, s->gamma, clip, slope, variance);
    dpi_law_fisher(&s->law, fisher);
    m->excess += mass * dpi_psi_excess(&s->law, s->gamma, clip);
    for (size_t j = 0; j < k; j++) {
        m->psi[j] += mass * psi[j];
        for (size_t l = 0; l < k; l++) {
            const size_t e = j * k + l;
            m->slope[e] += mass * psi[j] * s->law.own[l];
            m->variance[e] += mass * psi[j] * psi[l];
            m->square[e] += mass * s->law.own[j] * s->law.own[l];
            m->said[e] += mass * slope[e];
            m->varies[e] += mass * variance[e];
            m->fisher[e] += mass * fisher[e];
        }
    }
}

/* The fine law's cells eight at a time, which is fine enough. */
static void add_up(setting *s, const fine_law *law, double side, double low, double high,
                   double clip, sums *m)
{
    double hidden = 0;
    memset(m, 0, sizeof *m);
    for (size_t i = 0; i < law->n;) {
        double mass = 0;
        const size_t at = i + (law->n > 1000 ? 4 : 0) < law->n ? i + (law->n > 1000 ? 4 : 0) : i;
        if (law->y[i] > low && law->y[i] <= high) {
            hidden += law->mass[i++];
            continue;
        }
        for (size_t e = 0;
             e < (law->n > 1000 ? 8 : 1) && i < law->n && !(law->y[i] > low && law->y[i] <= high);
             e++)
            mass += law->mass[i++];
        observe(s, law->y[at < i ? at : i - 1], 0, 0);
        add(s, mass, clip, m);
    }
    observe(s, side == -1 ? high : low, side, high);
    add(s, hidden, clip, m);
}

static void check_sums(const setting *s, const sums *m, double clip, double near)
{
    const size_t k = s->view.k;
    if (!(norm_of(s, m->psi) <= near * clip))
        fail_msg("%s: the mean of psi is %g clip norms", s->seen.family->name,
                 norm_of(s, m->psi) / clip);
    assert_close(m->excess, 0, 0, 0.03);
    for (size_t j = 0; j < k; j++)
        for (size_t l = 0; l < k; l++) {
            const size_t e = j * k + l;
            const double unit = sqrt(m->square[j * k + j] * m->square[l * k + l]);
            assert_close(m->said[e], m->slope[e], 0, 0.02 * unit);
            assert_close(m->varies[e], m->variance[e], 0, 0.02 * unit);
            assert_close(m->fisher[e], m->square[e], 0, 0.02 * unit);
        }
}

/* At quantiles of the law: above one, at or below one, between two. */
static void check_hidden(const dist_case *c, const double *numbers)
{
    static const double clips[] = {0.7, 2, 6}, shares[] = {0.13, 0.52, 0.83, 0.97};
    static setting s;
    fine_law *law = fine_law_of(c, numbers);
    open_setting(&s, c, numbers, DPI_INTERVAL_CENSORED);
    make_gamma(&s);
    for (size_t k = 0; k < 4; k++) {
        double below = 0, at = 0, other = 0;
        for (size_t i = 0; i < law->n; i++) {
            below += law->mass[i];
            at = below <= shares[k] ? law->y[i] : at;
            other = below <= 0.5 * (1 + shares[k]) ? law->y[i] : other;
        }
        const double clip = clips[k % 3];
        sums m;
        add_up(&s, law, 1, at, INFINITY, clip, &m);
        check_sums(&s, &m, clip, 5e-3);
        add_up(&s, law, -1, -INFINITY, at, clip, &m);
        check_sums(&s, &m, clip, 5e-3);
        add_up(&s, law, 2, at, other, clip, &m);
        check_sums(&s, &m, clip, 5e-3);
    }
    close_setting(&s);
    free(law);
}

static void hidden_outcomes_leave_the_mean_zero(void **state)
{
    (void)state;
    check_hidden(case_of(&dpi_normal), (const double[]){0.3, 1.7});
    check_hidden(case_of(&dpi_weibull), (const double[]){1.4, 2.3});
    check_hidden(case_of(&dpi_log_normal), (const double[]){0.3, 0.8});
    check_hidden(case_of(&dpi_exponential), (const double[]){0.7});
    check_hidden(case_of(&dpi_poisson_log), (const double[]){1.1});
}

/* The score of an outcome that is above y is d log P(Y > y): by differences. */
static void unclipped_scores_are_those_of_the_tail(void **state)
{
    (void)state;
    static const double above[] = {-2, 0.1, 1.9, 4.7, 60};
    double numbers[] = {0.3, 1.7};
    static setting s;
    open_setting(&s, case_of(&dpi_normal), numbers, DPI_CENSORED);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 2; j++) {
            const double *const arg[] = {numbers, numbers + 1}, kept = numbers[j], h = 1e-5;
            numbers[j] = kept + h;
            const double up = dpi_log_survival_at(&dpi_normal, above[i], arg);
            numbers[j] = kept - h;
            const double down = dpi_log_survival_at(&dpi_normal, above[i], arg);
            numbers[j] = kept;
            observe(&s, above[i], 1, 0);
            assert_close(s.law.own[j], (up - down) / (2 * h), 0, 0.05);
        }
    observe(&s, above[4], 1, 0);
    assert_true(isfinite(s.law.own[0]) && s.law.own[0] > 3);
    close_setting(&s);
}

/* ---- weights and missing outcomes ---- */

static void a_weight_is_as_many_outcomes(void **state)
{
    (void)state;
    static const double numbers[] = {0.3, 1.7};
    static setting s, one;
    double many[K * K], single[K * K], slope[K * K], variance[K * K], psi[K], of_one[K];
    open_setting(&s, case_of(&dpi_normal), numbers, DPI_WEIGHTED);
    open_setting(&one, case_of(&dpi_normal), numbers, DPI_PRESENT);
    for (double weight = 0.3; weight < 5; weight *= 2.1) {
        const double counts = fmin(weight, 3);
        observe(&s, 2.1, weight, 3);
        observe(&one, 2.1, 1, 0);
        dpi_law_fisher(&s.law, many);
        dpi_law_fisher(&one.law, single);
        for (size_t j = 0; j < 2; j++) {
            assert_close(s.law.own[j], counts * one.law.own[j], 1e-14, 0);
            assert_close(many[3 * j], counts * single[3 * j], 1e-13, 0);
            s.gamma[3 * j] = one.gamma[3 * j] = 1;
        }
        /* Far from the clip norm, slope and variance are the information; near it, the score is
         * that of one outcome at a norm that is as much smaller. */
        dpi_psi_moments(&s.law, s.gamma, 1e6, slope, variance);
        for (size_t e = 0; e < 4; e += 3) {
            assert_close(slope[e], many[e], 1e-9, 0);
            assert_close(variance[e], many[e], 1e-9, 0);
        }
        assert_true(dpi_psi(&s.law, s.gamma, 0.8 * counts, psi));
        assert_true(dpi_psi(&one.law, one.gamma, 0.8, of_one));
        for (size_t j = 0; j < 2; j++)
            assert_close(psi[j], counts * of_one[j], 1e-10, 1e-12);
    }
    s.own[0] = 0;
    assert_false(dpi_law_of(&s.view, &s.record, &s.law));
    one.own[0] = 0;
    assert_false(dpi_law_of(&one.view, &one.record, &one.law));
    close_setting(&s);
    close_setting(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hidden_outcomes_leave_the_mean_zero),
        cmocka_unit_test(unclipped_scores_are_those_of_the_tail),
        cmocka_unit_test(a_weight_is_as_many_outcomes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
