/* Passes over records: sums are exact, each record is handed over once and with its own numbers,
 * and what is left to rounding covers it. */
#include "infer/scan.h"

#include <math.h>
#include <string.h>

#include <tacit/model.h>

#include "random/grid.h"
#include "tests/infer/readers.h"
#include "tests/infer/releases.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { MOST = 1 << 14, WIDTH = 5 };

typedef struct scene {
    reading r;
    reader_records records;
    dp_dataset *data;
    dp_noise *noise;
    dpi_scan scan;
} scene;

/* A scan of the first n records; seed 0: without noise. */
static void set_up(scene *s, const char *name, size_t n, size_t threads, uint64_t seed)
{
    dp_error err = {0};
    reading_make(&s->r, reader_named(name));
    reader_draw(&s->records, 5);
    s->data = reader_data(&s->records, n);
    s->noise = NULL;
    if (seed != 0)
        assert_ok(dp_noise_new_seeded(seed, &s->noise, &err), err.text);
    dpi_scan_spec spec = {.view = &s->r.view,
                          .data = s->data,
                          .threads = threads,
                          .most = MOST,
                          .most_room = 3,
                          .noise = s->noise};
    assert_ok(dpi_scan_init(&s->scan, &spec, &err), err.text);
}

static void tear_down(scene *s)
{
    dpi_scan_free(&s->scan);
    dp_noise_free(s->noise);
    dp_dataset_free(s->data);
    reading_free(&s->r);
}

static void run(scene *s, const dpi_pass *pass, double *out)
{
    dp_error err = {0};
    releases_forget();
    assert_ok(dpi_scan_run(&s->scan, s->r.theta, pass, out, &err), err.text);
}

/* ---- sums ---- */

/* Numbers of a record that have nothing to do with the grid. */
static double part(double y, size_t e)
{
    return sin(3 * y + (double)e) / 3;
}

/* Leaves in its room what the next record must not take for its own. */
static void add_part(const void *of, const dpi_record *record, double *room, int64_t *sum)
{
    (void)of;
    room[0] = record->y;
    for (size_t e = 0; e < WIDTH; e++)
        sum[e] += dpi_scan_grid(0x1p36, part(record->y, e));
}

static void sums_are_exact_for_any_number_of_threads(void **state)
{
    static const size_t counts[] = {1, 2, 255, 256, 257, 511, 513, READER_RECORDS};
    static const size_t threads[] = {0, 1, 2, 3, 8};
    static scene s;
    (void)state;
    const dpi_pass pass = {.add = add_part, .n = WIDTH, .room = 1};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
            double out[WIDTH];
            set_up(&s, "normal", counts[c], threads[t], 0);
            for (int again = 0; again < 2; again++) {
                run(&s, &pass, out);
                for (size_t e = 0; e < WIDTH; e++) {
                    int64_t sum = 0; /* in the opposite order */
                    for (size_t i = counts[c]; i > 0; i--)
                        sum += llrint(ldexp(part(s.records.real[i - 1], e), 36));
                    assert_true(out[e] == ldexp((double)sum, -36));
                }
            }
            tear_down(&s);
        }
}

static void releases_are_the_same_for_any_number_of_threads(void **state)
{
    static const size_t threads[] = {2, 3, 8};
    static scene s;
    static double one[MOST], many[MOST];
    (void)state;
    const dpi_pass pass = {.add = add_part, .n = MOST, .room = 1, .sigma = 2};
    set_up(&s, "normal", READER_RECORDS, 1, 9);
    run(&s, &pass, one);
    tear_down(&s);
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        set_up(&s, "normal", READER_RECORDS, threads[t], 9);
        run(&s, &pass, many);
        assert_memory_equal(one, many, sizeof one);
        tear_down(&s);
    }
}

static void what_was_added_up_is_wiped(void **state)
{
    static scene s;
    double out[WIDTH];
    (void)state;
    const dpi_pass pass = {.add = add_part, .n = WIDTH, .room = 1, .sigma = 1};
    set_up(&s, "normal", 40, 1, 9);
    run(&s, &pass, out);
    assert_true(releases_at(0)->steps[0] != 0);
    for (size_t e = 0; e < WIDTH; e++)
        assert_true(s.scan.total[e] == 0);
    /* Without noise there is no release, and nothing left of the sum. */
    dp_error err = {0};
    for (size_t e = 0; e < WIDTH; e++)
        out[e] = 7;
    releases_fail(0);
    assert_fails(dpi_scan_run(&s.scan, s.r.theta, &pass, out, &err), DP_EENTROPY, &err, "entropy");
    for (size_t e = 0; e < WIDTH; e++)
        assert_true(s.scan.total[e] == 0 && out[e] == 7);
    tear_down(&s);
}

/* ---- records ---- */

/* Copies of what records were handed over, in their order. */
typedef struct copies {
    const dpi_model_view *view;
    size_t n;
    double y[READER_RECORDS], eta[READER_RECORDS][DPI_READ_MOST];
    double dense[READER_RECORDS][64], own[READER_RECORDS][64];
    size_t member[READER_RECORDS][4];
} copies;

static copies taken, above, below;
static copies *filling;

static void copy(const void *of, const dpi_record *record, double *room, int64_t *sum)
{
    copies *to = filling;
    const dpi_model_view *r = to->view;
    size_t i = to->n++;
    (void)of;
    (void)room;
    (void)sum;
    assert_true(i < READER_RECORDS && r->k * r->local <= 64);
    to->y[i] = record->y;
    for (size_t j = 0; j < r->k; j++)
        to->eta[i][j] = record->arg[r->arg_of[j]][r->element[j]];
    memcpy(to->dense[i], record->dense, r->k * r->p * sizeof(double));
    memcpy(to->own[i], record->own, r->k * (r->local - r->p) * sizeof(double));
    memcpy(to->member[i], record->member, r->n_plates * sizeof(size_t));
}

static void take_copies(scene *s, copies *to)
{
    double out[1];
    const dpi_pass pass = {.add = copy, .n = 1, .room = 1};
    *to = (copies){.view = &s->r.view};
    filling = to;
    run(s, &pass, out);
}

static const double h = 1e-5;

/* The slope of record i's number j by number e of a latent's. */
static double slope_of(const dpi_model_view *r, const dpi_read *d, size_t i, size_t j, size_t e)
{
    size_t own = r->local - r->p, plate = 0;
    if (d->members == 0)
        return taken.dense[i][j * r->p + d->at + e];
    for (const dpi_read *b = r->reads; b < d; b++)
        plate += b->members > 0;
    double slope = taken.own[i][j * own + d->local - r->p + e % d->size];
    assert_true(slope == taken.dense[i][j * r->p + d->at + e % d->size]);
    return taken.member[i][plate] == e / d->size ? slope : 0;
}

static void check_slopes(scene *s, const dpi_read *d)
{
    const dpi_model_view *r = &s->r.view;
    for (size_t e = 0; e < d->block->size; e++) {
        double *theta = &s->r.theta[d->block->offset + e], place = *theta;
        *theta = place + h;
        take_copies(s, &above);
        *theta = place - h;
        take_copies(s, &below);
        *theta = place;
        for (size_t i = 0; i < taken.n; i++)
            for (size_t j = 0; j < r->k; j++) {
                double slope = (above.eta[i][j] - below.eta[i][j]) / (2 * h);
                assert_close(slope_of(r, d, i, j, e), slope, 1e-7, 1e-7);
            }
    }
}

/* By differences, in all the models that an automatic fit reads: more than one chunk of records. */
static void a_record_has_its_own_slopes_and_members(void **state)
{
    static scene s;
    (void)state;
    for (size_t m = 0; m < n_readers; m++) {
        set_up(&s, readers[m].name, 300, 1, 0);
        take_copies(&s, &taken);
        assert_int_equal(taken.n, 300);
        for (size_t i = 0; i < s.r.view.n_reads; i++)
            check_slopes(&s, &s.r.view.reads[i]);
        tear_down(&s);
    }
}

static void a_record_has_its_own_outcome_and_arguments(void **state)
{
    static scene s;
    (void)state;
    set_up(&s, "normal, known sd", READER_RECORDS, 1, 0);
    const dpi_model_view *r = &s.r.view;
    const double *w = s.r.theta + r->reads[0].block->offset;
    take_copies(&s, &taken);
    assert_int_equal(taken.n, READER_RECORDS);
    for (size_t i = 0; i < READER_RECORDS; i++) {
        const double *x = s.records.x + i * READER_X;
        assert_true(taken.y[i] == s.records.real[i]);
        assert_close(taken.eta[i][0], x[0] * w[0] + x[1] * w[1], 1e-15, 1e-15);
        assert_memory_equal(taken.dense[i], x, READER_X * sizeof *x);
    }
    tear_down(&s);
}

/* ---- what is left to rounding ---- */

/* Record 0 adds `begin`, the others a vector of norm `share` that rounding makes as long as it
 * can: every number lies just above the middle between two of the grid. */
typedef struct tall {
    size_t n;
    double share, first;
    int64_t begin;
} tall;

static void add_tall(const void *of, const dpi_record *record, double *room, int64_t *sum)
{
    const tall *t = of;
    (void)room;
    bool is_first = record->y == t->first;
    double each = t->share / sqrt((double)t->n);
    double middle = ldexp(floor(ldexp(each, 36)) - 0.5 + 0x1p-10, -36);
    for (size_t e = 0; e < t->n; e++)
        sum[e] += is_first ? t->begin - (int64_t)(7 * e) : dpi_scan_grid(0x1p36, middle);
}

/* How far the second record moves the sum before noise, of what is allowed. */
static double moved_by_the_second(size_t n, double sigma, int64_t begin)
{
    static scene s;
    static double out[MOST], one[MOST];
    tall t = {.n = n, .begin = begin};
    dpi_pass pass = {.add = add_tall, .of = &t, .n = n, .room = 1, .sigma = sigma};
    t.share = dpi_scan_share(&pass);
    long double square = 0;
    for (size_t records = 1; records <= 2; records++) {
        set_up(&s, "normal", records, 1, 3);
        t.first = s.records.real[0];
        run(&s, &pass, out);
        const double *steps = releases_at(0)->steps;
        for (size_t e = 0; e < n && records == 2; e++)
            square += ((long double)steps[e] - one[e]) * ((long double)steps[e] - one[e]);
        memcpy(one, steps, n * sizeof *one);
        tear_down(&s);
    }
    return (double)(sqrtl(square) * sigma / DPI_GRID_SCALE);
}

static void rounding_stays_within_what_is_left_to_it(void **state)
{
    static const size_t sizes[] = {1, 2, 363, 8192, MOST};
    static const double sigmas[] = {0x1p-4, 0.7, 30, 1e5, 1e7};
    static const int64_t begins[] = {1000000, ((int64_t)1 << 62) + 12345};
    double largest = 0;
    (void)state;
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++)
            for (size_t k = 0; k < 2; k++) {
                double moved = moved_by_the_second(sizes[i], sigmas[j], begins[k]);
                /* With a sum of 2^62, the most that 2^26 records make, and little noise, the
                 * release cuts sums. */
                assert_true(moved <= 1);
                assert_true(moved > 0.4 || (k == 1 && j == 0));
                largest = fmax(largest, moved);
            }
    assert_true(largest > 0.99999);
}

static void a_share_leaves_room_for_rounding(void **state)
{
    (void)state;
    for (double sigma = 0x1p-6; sigma < 1e6; sigma *= 3)
        for (size_t n = 1; n <= MOST; n *= 2) {
            const dpi_pass pass = {.n = n, .sigma = sigma};
            /* n numbers to halves of the grid; double's to halves of 2^10 for both sums; and those
             * of the release. */
            double rounding = sqrt((double)n) * (0x1p-37 + 2 * 0x1p-27 + sigma * 0x1p-32);
            assert_true(dpi_scan_share(&pass) + rounding <= 1);
            assert_true(dpi_scan_share(&pass) > 1 - rounding - 0x1p-16);
        }
    assert_true(dpi_scan_share(&(dpi_pass){.n = 100}) == 1);
}

static void numbers_are_put_on_the_grid_and_others_are_nothing(void **state)
{
    uint64_t seed = 3;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        double x = next_number(&seed);
        assert_true(fabs((double)dpi_scan_grid(0x1p36, x) - ldexp(x, 36)) <= 0.5);
    }
    assert_int_equal(dpi_scan_grid(0x1p36, 1), (int64_t)1 << 36);
    assert_int_equal(dpi_scan_grid(0x1p36, -1), -((int64_t)1 << 36));
    static const double wrong[] = {NAN, INFINITY, -INFINITY, 1.5, -2, 1e300};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(dpi_scan_grid(0x1p36, wrong[i]), 0);
}

/* ---- refusals ---- */

typedef struct request {
    size_t records, numbers;
    double sigma;
    bool unit;
} request;

static dp_status ask(const request *a, dp_error *err)
{
    static reader_records records;
    reading r;
    dpi_scan scan;
    reading_make(&r, reader_named("normal"));
    reader_draw(&records, 5);
    /* Too many records, and none, are refused before their columns are looked for. */
    bool some = a->records > 0 && a->records <= READER_RECORDS;
    dp_dataset *data = some ? reader_data(&records, a->records) : dp_dataset_new(a->records);
    if (a->unit)
        dp_dataset_unit(data, "g");
    dpi_scan_spec spec = {.view = &r.view, .data = data, .most = a->numbers, .most_room = 1};
    dp_status status = dpi_scan_init(&scan, &spec, err);
    if (status == DP_OK)
        dpi_scan_free(&scan);
    dp_dataset_free(data);
    reading_free(&r);
    return status;
}

static void what_the_bound_does_not_cover_is_refused(void **state)
{
    dp_error err = {0};
    (void)state;
    request a = {.records = 10, .numbers = MOST};
    assert_ok(ask(&a, &err), err.text);
    a.numbers = MOST + 1;
    assert_fails(ask(&a, &err), DP_EUNSUPPORTED, &err, "16385 numbers");
    a = (request){.records = ((size_t)1 << 26) + 1, .numbers = 1};
    assert_fails(ask(&a, &err), DP_EUNSUPPORTED, &err, "2^26 records");
    a.records = (size_t)1 << 26;
    assert_fails(ask(&a, &err), DP_ENAME, &err, "real");
    a = (request){.records = 10, .numbers = 1, .unit = true};
    assert_fails(ask(&a, &err), DP_EUNSUPPORTED, &err, "units");
    a = (request){.records = 0, .numbers = 1};
    assert_fails(ask(&a, &err), DP_EDATA, &err, "no records");
}

/* The steps of the release grow with the noise, until a record is lost among them. */
static void noise_that_is_too_coarse_is_refused(void **state)
{
    static scene s;
    static double out[MOST];
    dp_error err = {0};
    (void)state;
    set_up(&s, "normal", 10, 1, 3);
    dpi_pass pass = {.add = add_part, .n = MOST, .room = 1, .sigma = 1.6e7};
    assert_true(dpi_scan_share(&pass) > 0.5);
    run(&s, &pass, out);
    releases_forget();
    for (pass.sigma = 1.7e7; pass.sigma < 1e12; pass.sigma *= 10)
        assert_fails(dpi_scan_run(&s.scan, s.r.theta, &pass, out, &err), DP_EUNSUPPORTED, &err,
                     "epsilon");
    assert_int_equal(releases_count(), 0);
    tear_down(&s);
}

typedef struct wrong_pass {
    scene *s;
    dpi_pass pass;
} wrong_pass;

static void run_wrong(void *of)
{
    static double out[MOST + 1];
    wrong_pass *w = of;
    (void)!dpi_scan_run(&w->s->scan, w->s->r.theta, &w->pass, out, NULL);
}

static void a_pass_without_its_noise_aborts(void **state)
{
    static scene s;
    (void)state;
    for (uint64_t seed = 0; seed < 2; seed++) {
        set_up(&s, "normal", 10, 1, seed);
        const dpi_pass fine = {.add = add_part, .n = 5, .room = 1, .sigma = (double)seed};
        wrong_pass w = {&s, fine};
        w.pass.sigma = 1 - (double)seed;
        assert_aborts(run_wrong, &w);
        w.pass = fine;
        w.pass.n = MOST + 1;
        assert_aborts(run_wrong, &w);
        w.pass = fine;
        w.pass.room = 4;
        assert_aborts(run_wrong, &w);
        tear_down(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact_for_any_number_of_threads),
        cmocka_unit_test(releases_are_the_same_for_any_number_of_threads),
        cmocka_unit_test(what_was_added_up_is_wiped),
        cmocka_unit_test(a_record_has_its_own_slopes_and_members),
        cmocka_unit_test(a_record_has_its_own_outcome_and_arguments),
        cmocka_unit_test(rounding_stays_within_what_is_left_to_it),
        cmocka_unit_test(a_share_leaves_room_for_rounding),
        cmocka_unit_test(numbers_are_put_on_the_grid_and_others_are_nothing),
        cmocka_unit_test(what_the_bound_does_not_cover_is_refused),
        cmocka_unit_test(noise_that_is_too_coarse_is_refused),
        cmocka_unit_test(a_pass_without_its_noise_aborts),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    releases_forget();
    return failed;
}
