/* What a record adds never exceeds its share, whatever the record is: pairs of arguments and slopes
 * that no model would have, with infinite numbers and such as are none, are handed to what adds a
 * record in each kind of pass.  What they are made of is random, from fixed seeds. */
#include "infer/inquiries.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "tests/infer/readers.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { TRIES = 4000, MOST_NUMBERS = 4096, MOST_ROOM = 4096 };

/* ---- catching a pass ---- */

static void (*attack)(const dpi_inquiry *q, const dpi_pass *pass);
static const dpi_inquiry *asked;

dp_status __wrap_dpi_scan_run(dpi_scan *s, const double *theta, const dpi_pass *pass, double *out,
                              dp_error *err);

/* Instead of running the pass, attacks it. */
dp_status __wrap_dpi_scan_run(dpi_scan *s, const double *theta, const dpi_pass *pass, double *out,
                              dp_error *err)
{
    (void)s;
    (void)theta;
    (void)err;
    memset(out, 0, pass->n * sizeof *out);
    attack(asked, pass);
    return DP_OK;
}

static void ask(const dpi_inquiry *q, dpi_inquiry_kind kind, double sigma)
{
    static double out[MOST_NUMBERS], theta[MOST_NUMBERS];
    double sd[2];
    dp_error err = {0};
    const dp_owners owners = {.size = 3};
    dpi_scan scan = {.owners = NULL};
    assert_true(dpi_inquiry_size(q->view, kind) <= MOST_NUMBERS);
    assert_true(dpi_inquiry_room(q->view) <= MOST_ROOM);
    asked = q;
    assert_ok(dpi_inquiry_run(q, kind, &scan, theta, sigma, out, sd, &err), err.text);
    scan.owners = &owners;
    assert_ok(dpi_inquiry_run(q, kind, &scan, theta, sigma, out, sd, &err), err.text);
}

/* ---- records ---- */

static uint64_t seed;

static double number(void)
{
    return next_number(&seed);
}

static size_t choice(size_t n)
{
    return (size_t)((1 + number()) / 2 * (double)n);
}

/* Mostly of one size, which is one of those at which something overflows or vanishes. */
static double hostile(double size)
{
    static const double strange[] = {0,      -0.0,    1e300,    -1e300,    DBL_MAX, -DBL_MAX,
                                     5e-324, DBL_MIN, INFINITY, -INFINITY, NAN,     1e154};
    switch (choice(12)) {
    case 0:
        return strange[choice(sizeof strange / sizeof *strange)];
    case 1:
        return 0;
    case 2:
        return size;
    case 3:
        return -size;
    default:
        return size * number();
    }
}

static double a_size(void)
{
    static const double sizes[] = {1e-300, 1e-160, 1e-80, 1e-20, 1e-8, 1e-3,  0.1,   1,
                                   1,      1,      1,     3,     10,   100,   1e4,   1e8,
                                   1e16,   1e30,   1e60,  1e77,  1e90, 1e120, 1e150, 1e160};
    return sizes[choice(sizeof sizes / sizeof *sizes)];
}

/* What a record is made of. */
typedef struct parts {
    double arg[DPI_MAX_ARGS][DPI_READ_MOST], dense[DPI_READ_MOST * 16], own[DPI_READ_MOST * 16];
    double white[DPI_READ_MOST * 32], gamma[DPI_READ_MOST * DPI_READ_MOST];
    size_t member[4];
    dpi_record record;
} parts;

/* An argument that is inside its domain in most records. */
static double argument(const dpi_family *family, int a)
{
    double x = choice(3) > 0 ? 2 * number() : hostile(a_size());
    bool inside = family->arg_domain[a] == DPI_ANY || choice(20) == 0;
    return inside ? x : fabs(x);
}

static double outcome(const dpi_family *family)
{
    double y = choice(3) > 0 ? 2 * number() : hostile(a_size());
    switch (family->support) {
    case DPI_REAL:
        return y;
    case DPI_ABOVE_ZERO:
        return fabs(y);
    default:
        return choice(2) > 0 ? (double)choice(3) : floor(fabs(y));
    }
}

/* Slopes of one size, in some records those of all arguments alike or opposite, so that what they
 * add cancels. */
static void slopes(const dpi_model_view *r, parts *of)
{
    size_t own = r->local - r->p, how = choice(4);
    double size = a_size();
    for (size_t j = 0; j < r->k; j++) {
        size = choice(4) > 0 ? size : a_size();
        for (size_t e = 0; e < r->p; e++)
            of->dense[j * r->p + e] = how == 0 && j > 0   ? of->dense[e]
                                      : how == 1 && j > 0 ? -of->dense[e]
                                      : how == 2          ? size * number()
                                                          : hostile(size);
        for (size_t e = 0; e < own; e++)
            of->own[j * own + e] = how < 2 && j > 0 ? of->own[e] : hostile(size);
    }
}

static void make_record(const dpi_model_view *r, parts *of)
{
    const dpi_family *family = r->seen->family;
    size_t plate = 0;
    of->record = (dpi_record){.y = outcome(family),
                              .arg_size = family->vector_arg ? READER_CLASSES : 1,
                              .dense = of->dense,
                              .own = of->own,
                              .member = of->member,
                              .white = of->white,
                              .gamma = of->gamma};
    if (family->vector_arg)
        of->record.y = (double)choice(READER_CLASSES);
    for (int a = 0; a < family->n_args; a++) {
        of->record.arg[a] = of->arg[a];
        for (size_t e = 0; e < of->record.arg_size; e++)
            of->arg[a][e] = argument(family, a);
    }
    for (const dpi_read *d = r->reads; d < r->reads + r->n_reads; d++)
        if (d->members > 0)
            of->member[plate++] = choice(d->members);
    slopes(r, of);
}

/* ---- attacks ---- */

static size_t tried, told; /* records, and those that added anything */
static double largest;     /* norm, of its bound */

static double norm_of(const dpi_pass *pass, const int64_t *sum)
{
    long double square = 0;
    for (size_t e = 0; e < pass->n; e++)
        square += (long double)sum[e] * (long double)sum[e];
    return (double)(sqrtl(square) / (long double)dpi_scan_steps(pass));
}

/* As a scan does it. */
static void add(const dpi_pass *pass, parts *of, double *room, int64_t *sum)
{
    if (pass->metric != NULL)
        dpi_metric_apply(pass->metric, 1, of->dense, of->own, of->white, of->gamma);
    pass->add(pass->of, &of->record, room, sum);
}

static void add_random_records(const dpi_inquiry *q, const dpi_pass *pass)
{
    static int64_t sum[MOST_NUMBERS];
    static double room[MOST_ROOM];
    parts of;
    double bound = dpi_scan_share(pass) + sqrt((double)pass->n) / 2 / dpi_scan_steps(pass);
    assert_true(bound < 1);
    for (int t = 0; t < TRIES; t++) {
        memset(sum, 0, pass->n * sizeof *sum);
        make_record(q->view, &of);
        add(pass, &of, room, sum);
        double norm = norm_of(pass, sum);
        tried++;
        told += norm > 0;
        largest = fmax(largest, norm / bound);
        if (!(norm <= bound))
            fail_msg("a record adds %.17g, of %.17g at most (%s)", norm, bound,
                     q->view->seen->family->name);
    }
}

static void no_record_adds_more_than_its_share(void **state)
{
    static const double clips[] = {1e-3, 1.7, 40}, sizes[] = {1, 1e3, 1e-3};
    (void)state;
    attack = add_random_records;
    for (int kind = 0; kind < DPI_N_INQUIRIES; kind++) {
        seed = 5 + (uint64_t)kind;
        tried = told = 0;
        largest = 0;
        for (size_t i = 0; i < n_readers; i++) {
            reading r;
            reading_make(&r, &readers[i]);
            reading_turn(&r, sizes[i % 3]);
            dpi_inquiry q = {.view = &r.view,
                             .metric = &r.metric,
                             .clip = clips[(i + (size_t)kind) % 3],
                             .most = 2 * r.metric.dims,
                             .beyond = 1.5};
            ask(&q, (dpi_inquiry_kind)kind, 4);
            reading_free(&r);
        }
        assert_true(told > tried / 10);
        assert_true(largest > 0.99);
    }
}

/* Below some 1e-150 squares of what is clipped vanish; at 0 and below nothing is clipped. */
static void a_norm_that_is_none_lets_nothing_through(void **state)
{
    static const double norms[] = {1e-320, 1e-165, 1e-150, 0, -1e-20, -1, -1e300, NAN, INFINITY};
    (void)state;
    attack = add_random_records;
    for (size_t n = 0; n < sizeof norms / sizeof *norms; n++)
        for (int kind = 0; kind < DPI_N_INQUIRIES; kind++)
            for (size_t i = 0; i < n_readers; i++) {
                reading r;
                seed = 91 + i;
                reading_make(&r, &readers[i]);
                reading_turn(&r, n < 3 ? 1 / sqrt(fmax(norms[n], 1e-250)) : 1);
                dpi_inquiry q = {.view = &r.view,
                                 .metric = &r.metric,
                                 .clip = n < 3 ? 2 : norms[n],
                                 .most = norms[n],
                                 .beyond = norms[n]};
                ask(&q, (dpi_inquiry_kind)kind, 4);
                reading_free(&r);
            }
}

/* The first argument is no number, or one that no law has, or what a count's mean overflows to. */
static void add_records_without_a_law(const dpi_inquiry *q, const dpi_pass *pass)
{
    static const double not_in[] = {NAN, INFINITY, -INFINITY};
    static int64_t sum[MOST_NUMBERS];
    static double room[MOST_ROOM];
    const dpi_family *family = q->view->seen->family;
    parts of;
    for (int t = 0; t < 60; t++) {
        memset(sum, 0, pass->n * sizeof *sum);
        do
            make_record(q->view, &of);
        while (!isfinite(of.record.y));
        of.arg[0][0] = not_in[t % (family->vector_arg ? 2 : 3)];
        if (family->arg_domain[0] == DPI_POSITIVE && t % 4 > 1)
            of.arg[0][0] = t % 4 == 2 ? 0 : -1;
        if (dpi_outcomes(family, of.record.arg, of.record.arg_size, (double[DPI_MOST_OUTCOMES]){0},
                         (double[DPI_MOST_OUTCOMES]){0}) > 0)
            continue;
        tried++;
        add(pass, &of, room, sum);
        for (size_t e = 0; e < pass->n; e++) {
            bool count = e == 0 && pass->n == dpi_inquiry_size(q->view, DPI_INQUIRY_SCALES);
            assert_int_equal(
                sum[e],
                count ? dpi_scan_grid(dpi_scan_steps(pass), dpi_scan_share(pass) * sqrt(0.2)) : 0);
        }
    }
}

static void a_record_without_a_law_is_counted_at_most(void **state)
{
    (void)state;
    attack = add_records_without_a_law;
    tried = 0;
    seed = 77;
    for (size_t i = 0; i < n_readers; i++)
        for (int kind = 0; kind < DPI_N_INQUIRIES; kind++) {
            reading r;
            reading_make(&r, &readers[i]);
            dpi_inquiry q = {
                .view = &r.view, .metric = &r.metric, .clip = 2, .most = 2, .beyond = 1.5};
            ask(&q, (dpi_inquiry_kind)kind, 4);
            reading_free(&r);
        }
    assert_true(tried > 30 * n_readers * DPI_N_INQUIRIES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_record_adds_more_than_its_share),
        cmocka_unit_test(a_norm_that_is_none_lets_nothing_through),
        cmocka_unit_test(a_record_without_a_law_is_counted_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
