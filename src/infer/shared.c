/* Informations that agree for made-up arguments are taken not to depend on them. */
#include "infer/shared.h"

#include <math.h>
#include <string.h>

#include "dist/veil.h"
#include "infer/arrow.h"
#include "infer/law.h"
#include "num/matrix.h"

enum { TRIES = 3 };

static const double difference = 0.5; /* of an outcome of scale 1 */

/* Slope of a scale's logarithm below which it is at a bound, and no power of anything. */
static const double least_power = 0.05;

dp_status dpi_shared_init(dpi_shared *s, size_t p, dpi_arena *arena, dp_error *err)
{
    s->unit = dpi_arena_alloc(arena, p, sizeof *s->unit);
    s->exact = dpi_arena_alloc(arena, p, sizeof *s->exact);
    s->scale = dpi_arena_alloc(arena, p, sizeof *s->scale);
    s->apart = dpi_arena_alloc(arena, p * p, sizeof *s->apart);
    if (s->unit == NULL || s->exact == NULL || s->scale == NULL || s->apart == NULL)
        return dpi_fail_nomem(err);
    for (size_t c = 0; c < p; c++)
        s->unit[c] = 1;
    s->outcome = p;
    return DP_OK;
}

/* A record's arguments, of which those that are not shared are made up, in (0, 1), which is in the
 * domain of all but counts.  Its outcome is seen and counts once. */
static void make_arguments(const dpi_scan *scan, int t, double *made, dpi_record *record)
{
    const dpi_family *row = scan->view->seen->family;
    int first;
    (void)dpi_behind(row, &first);
    for (int a = 0; a < row->n_args; a++) {
        record->arg[a] = dpi_scan_shared_arg(scan, a);
        made[a] = a < first ? dpi_open_argument(row, a) : fmod(0.2 + 0.29 * t + 0.37 * a, 1);
        if (a < first || record->arg[a] == NULL)
            record->arg[a] = &made[a];
    }
}

/* The information of the arguments, phi[k][k], NAN where it depends on a record. */
static void find_phi(const dpi_scan *scan, double *phi)
{
    const dpi_model_view *r = scan->view;
    double found[TRIES][DPI_READ_MOST * DPI_READ_MOST], made[DPI_MAX_ARGS];
    bool known = true;
    dpi_law law;
    law.family = NULL;
    for (int t = 0; t < TRIES && known; t++) {
        dpi_record record = {.y = 1, .arg_size = 1};
        make_arguments(scan, t, made, &record);
        known = !r->seen->family->vector_arg && !dpi_is_censored(r->seen->family) &&
                dpi_law_of(r, &record, &law);
        if (known)
            dpi_law_fisher(&law, found[t]);
    }
    for (size_t e = 0; e < r->k * r->k; e++) {
        phi[e] = known ? found[0][e] : NAN;
        double size =
            known ? sqrt(found[0][e / r->k * (r->k + 1)] * found[0][e % r->k * (r->k + 1)]) : 0;
        for (int t = 1; t < TRIES && known; t++)
            if (!(fabs(found[t][e] - phi[e]) <= 1e-6 * size))
                phi[e] = NAN;
        if (fabs(phi[e]) <= 1e-6 * size)
            phi[e] = 0;
    }
}

/* Whether the score is c (y - mean): then that of outcome 1 less that of 0 is the same wherever
 * they are made up. */
static bool is_canonical(const dpi_scan *scan)
{
    const dpi_model_view *r = scan->view;
    double first = 0;
    dpi_law law;
    law.family = NULL;
    if (r->k != 1 || r->seen->family->vector_arg)
        return false;
    for (int t = 0; t < TRIES; t++) {
        double score[2], made[DPI_MAX_ARGS];
        for (int y = 0; y < 2; y++) {
            dpi_record record = {.y = y, .arg_size = 1};
            make_arguments(scan, t, made, &record);
            if (!dpi_law_of(r, &record, &law))
                return false;
            score[y] = law.own[0];
        }
        double step = score[1] - score[0];
        first = t == 0 ? step : first;
        if (!(step > 0) || !(fabs(step - first) <= 1e-9 * first))
            return false;
    }
    return true;
}

/* The inferred number of a role, or k. */
static size_t number_of(const dpi_model_view *r, dpi_role role)
{
    size_t j = 0;
    while (j < r->k && (r->seen->family->vector_arg || r->seen->family->role[r->arg_of[j]] != role))
        j++;
    return j;
}

/* Second difference of the mean of a scale's score as the standard outcomes move, in units of its
 * own information and that of the location. */
static double find_bend(const dpi_scan *scan)
{
    const dpi_model_view *r = scan->view;
    int first;
    const dpi_family *family = dpi_behind(r->seen->family, &first);
    size_t scale = number_of(r, DPI_SCALE), location = number_of(r, DPI_LOCATION);
    double made[DPI_MAX_ARGS], standard[DPI_MAX_ARGS];
    double y[DPI_MOST_OUTCOMES], mass[DPI_MOST_OUTCOMES];
    double one[DPI_READ_MOST], moved = 0, own[2] = {0};
    const double *arg[DPI_MAX_ARGS];
    bool grows = family->support == DPI_ABOVE_ZERO; /* the location is of the logarithm */
    dpi_record record = {.arg_size = 1};
    if (scale == r->k || location == r->k)
        return 0;
    make_arguments(scan, 0, made, &record);
    for (int a = 0; a < family->n_args; a++) {
        standard[a] =
            family->role[a] == DPI_SHAPE ? *record.arg[first + a] : family->role[a] == DPI_SCALE;
        arg[a] = &standard[a];
    }
    size_t n = dpi_outcomes(family, arg, (size_t)family->n_args, y, mass);
    for (size_t i = 0; i < n; i++)
        for (int side = -1; side <= 1; side++) {
            double at = grows ? y[i] * exp(side * difference) : y[i] + side * difference;
            dpi_family_score(family, 1, &at, arg, (size_t)family->n_args, one);
            double s = one[r->arg_of[scale] - first], m = one[r->arg_of[location] - first];
            moved += mass[i] * s * (side == 0 ? -2 : 1);
            own[0] += side == 0 ? mass[i] * s * s : 0;
            own[1] += side == 0 ? mass[i] * m * m : 0;
        }
    return moved / (difference * difference * own[0] * own[1]);
}

/* The one argument's number that reads a latent, or k where there are several. */
static size_t reader_of(const dpi_model_view *r, const dpi_read *read)
{
    size_t one = r->k;
    for (size_t j = 0; j < r->k; j++)
        if (read->slope[j] != DPI_NONE) {
            if (one < r->k)
                return r->k;
            one = j;
        }
    return one;
}

/* Every argument that reads `other` is apart from argument j. */
static bool is_apart(const dpi_model_view *r, const double *phi, size_t j, const dpi_read *other)
{
    for (size_t l = 0; l < r->k; l++)
        if (other->slope[l] != DPI_NONE && phi[j * r->k + l] != 0)
            return false;
    return true;
}

static bool is_exponential(const dpi_scan *scan, size_t j, double slope)
{
    const double *arg = dpi_scan_shared_arg(scan, scan->view->arg_of[j]);
    return arg != NULL && fabs(arg[scan->view->element[j]] - slope) <= 1e-9 * fabs(slope);
}

/* How many numbers of latents the outcomes' scale reads; the last one's coordinate, and what all
 * records share of the scale's slope by it, 0: nothing. */
static size_t count_read(const dpi_scan *scan, size_t j, size_t *at, double *slope)
{
    const dpi_model_view *r = scan->view;
    size_t read = 0;
    for (const dpi_read *a = r->reads; a < r->reads + r->n_reads; a++) {
        if (a->slope[j] == DPI_NONE)
            continue;
        const double *shared = a->members == 0 ? dpi_scan_shared_slope(scan, a, j) : NULL;
        for (size_t i = 0; i < a->size; i++) {
            if (shared != NULL && shared[i] == 0)
                continue;
            read++;
            *at = a->at + i;
            *slope = shared != NULL ? shared[i] : 0;
        }
    }
    return read;
}

/* Where all records have one scale, made of one number that nothing else reads, and count once: how
 * many outcomes weights make of them is not known. */
static void find_outcome(dpi_shared *s, const dpi_scan *scan)
{
    const dpi_model_view *r = scan->view;
    size_t j = number_of(r, DPI_SCALE), at = 0;
    double slope = 0;
    s->outcome = r->p;
    s->power = 0;
    if (j == r->k || dpi_is_weighted(r->seen->family) || count_read(scan, j, &at, &slope) != 1 ||
        !s->exact[at])
        return;
    const double *scale = dpi_scan_shared_arg(scan, r->arg_of[j]);
    double power = scale != NULL ? slope / scale[r->element[j]] : 0;
    if (!(fabs(power) > least_power) || isinf(power))
        return;
    s->outcome = at;
    s->power = s->scale[at] ? 1 : power;
}

void dpi_shared_find(dpi_shared *s, dpi_scan *scan, const double *theta)
{
    const dpi_model_view *r = scan->view;
    double phi[DPI_READ_MOST * DPI_READ_MOST];
    dpi_scan_place(scan, theta);
    find_phi(scan, phi);
    s->canonical = is_canonical(scan);
    s->bend = find_bend(scan);
    memset(s->apart, 0, r->p * r->p * sizeof *s->apart);
    for (const dpi_read *a = r->reads; a < r->reads + r->n_reads; a++) {
        size_t j = reader_of(r, a);
        bool known = j < r->k && phi[j * r->k + j] > 0;
        const double *slope = known ? dpi_scan_shared_slope(scan, a, j) : NULL;
        for (size_t i = 0; i < a->size; i++) {
            double unit = known ? sqrt(phi[j * r->k + j]) : 1;
            if (slope != NULL)
                unit *= fabs(slope[i]);
            s->exact[a->at + i] = slope != NULL && unit > 0 && isfinite(unit);
            s->scale[a->at + i] = s->exact[a->at + i] && is_exponential(scan, j, slope[i]);
            s->unit[a->at + i] = unit > 0 && isfinite(unit) ? unit : 1;
        }
        for (const dpi_read *b = r->reads; known && b < r->reads + r->n_reads; b++)
            for (size_t i = 0; is_apart(r, phi, j, b) && i < a->size; i++)
                for (size_t e = 0; e < b->size; e++)
                    s->apart[(a->at + i) * r->p + b->at + e] = true;
    }
    find_outcome(s, scan);
}

double dpi_shared_information(const dpi_scan *scan, double eta)
{
    const dpi_model_view *r = scan->view;
    double made[DPI_MAX_ARGS], fisher[DPI_READ_MOST * DPI_READ_MOST];
    dpi_record record = {.y = 1, .arg_size = 1};
    dpi_law law;
    law.family = NULL;
    make_arguments(scan, 0, made, &record);
    record.arg[r->arg_of[0]] = &eta;
    if (!dpi_law_of(r, &record, &law))
        return 0;
    dpi_law_fisher(&law, fisher);
    return fisher[0];
}

dp_status dpi_shared_mend(const dpi_shared *s, const dpi_metric *m, double n, double *pattern,
                          dp_error *err)
{
    size_t p = m->view->p;
    double *whole = dpi_alloc(4 * p, p * sizeof *whole);
    if (whole == NULL)
        return dpi_fail_nomem(err);
    double *back = whole + p * p, *there = back + p * p, *room = there + p * p;
    dp_status status = dpi_matrix_inverse(p, m->dense, back, err);
    if (status == DP_OK) {
        dpi_arrow_unpack(p, pattern, whole);
        dpi_matrix_congruence(p, back, whole, room, there);
        for (size_t c = 0; c < p; c++)
            for (size_t e = 0; e < p; e++)
                if (s->apart[c * p + e])
                    there[c * p + e] = there[e * p + c] = 0;
        for (size_t c = 0; c < p; c++)
            if (s->exact[c])
                there[c * p + c] = n * s->unit[c] * s->unit[c];
        dpi_matrix_congruence(p, m->dense, there, room, whole);
        dpi_arrow_pack(p, whole, pattern);
    }
    dpi_free(whole);
    return status;
}
