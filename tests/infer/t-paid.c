/* Passes: what they refuse, and that no release is made which nobody has accounted for. */
#include "infer/scan.h"

#include <tacit/model.h>

#include "infer/inquiries.h"
#include "tests/infer/readers.h"
#include "tests/lib/check.h"

enum { N = 40 };

typedef struct scene {
    reader_records records;
    reading reading;
    dp_dataset *data;
    dp_noise *noise;
    dpi_inquiry query;
} scene;

static void set_up(scene *s)
{
    dp_error err = {0};
    reader_draw(&s->records, 3);
    reading_make(&s->reading, &readers[0]);
    s->data = reader_data(&s->records, N);
    assert_ok(dp_noise_new_seeded(5, &s->noise, &err), err.text);
    s->query = (dpi_inquiry){.view = &s->reading.view,
                             .metric = &s->reading.metric,
                             .clip = 2,
                             .most = 2,
                             .beyond = 1.5};
}

static void tear_down(scene *s)
{
    dp_noise_free(s->noise);
    dp_dataset_free(s->data);
    reading_free(&s->reading);
}

static dp_status open_scan(const scene *s, const dp_mechanism *paid, size_t n, dpi_scan *scan,
                           dp_error *err)
{
    dpi_scan_spec spec = {.view = &s->reading.view,
                          .data = s->data,
                          .most_room = dpi_inquiry_room(&s->reading.view),
                          .noise = s->noise,
                          .paid = paid,
                          .n_paid = n};
    for (int k = 0; k < DPI_N_INQUIRIES; k++) {
        size_t size = dpi_inquiry_size(&s->reading.view, (dpi_inquiry_kind)k);
        spec.most = size > spec.most ? size : spec.most;
    }
    return dpi_scan_init(scan, &spec, err);
}

typedef struct question {
    const scene *scene;
    dpi_scan *scan;
    double sigma;
} question;

static void ask(void *of)
{
    static double out[4096];
    const question *q = of;
    dp_error err = {0};
    assert_ok(dpi_inquiry_run(&q->scene->query, DPI_INQUIRY_SCORE, q->scan, q->scene->reading.theta,
                              q->sigma, out, NULL, &err),
              err.text);
}

static void a_release_that_is_not_accounted_for_is_not_made(void **state)
{
    static scene s;
    const dp_mechanism paid[] = {{.sigma = 4, .steps = 2}, {.sigma = 8, .steps = 1}};
    dp_error err = {0};
    dpi_scan scan;
    (void)state;
    set_up(&s);
    assert_ok(open_scan(&s, paid, 2, &scan, &err), err.text);
    question four = {&s, &scan, 4}, eight = {&s, &scan, 8}, other = {&s, &scan, 4.5};
    assert_aborts(ask, &other);
    ask(&four);
    ask(&eight);
    assert_aborts(ask, &eight);
    ask(&four);
    assert_aborts(ask, &four);
    dpi_scan_free(&scan);
    tear_down(&s);
}

static void columns_that_are_drawn_are_refused(void **state)
{
    static scene s;
    static uint8_t chances[N * READER_X];
    dp_error err = {0};
    dpi_scan scan;
    (void)state;
    set_up(&s);
    dp_dataset_free(s.data);
    s.data = dp_dataset_new(N);
    dp_dataset_bernoulli(s.data, "x", READER_X, 255, chances);
    dp_dataset_real(s.data, "binary", 1, s.records.binary);
    assert_fails(open_scan(&s, NULL, 0, &scan, &err), DP_EUNSUPPORTED, &err, "drawn");
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_release_that_is_not_accounted_for_is_not_made),
        cmocka_unit_test(columns_that_are_drawn_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
