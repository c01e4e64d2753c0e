/* Invented data sets: which records they hold, how columns of no data set are drawn, and what is
 * refused. */
#include "infer/invent.h"

#include <math.h>
#include <string.h>

#include "data/dataset.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { ROWS = 5, GROUPS = 4 };

static const double x[ROWS][2] = {{1, -0.5}, {2, 2.385}, {3, 0.71}, {4, -9}, {5, 6.5}};
static const int32_t g[ROWS] = {3, 1, 0, 2, 1};
static const unsigned char shade[ROWS] = {10, 20, 30, 40, 50};
static const double unread[ROWS] = {NAN, NAN, NAN, NAN, NAN};

typedef struct scene {
    dp_model *model;
    dpi_model_view view;
    dp_dataset *data;
    dp_rng *rng;
    dpi_invented made;
} scene;

static void set_up(scene *s)
{
    dp_error err = {0};
    s->model = dp_model_new();
    dp_plate rows = dp_unit_plate(s->model, "rows");
    dp_plate groups = dp_plate_new(s->model, "groups", GROUPS);
    dp_expr w = dp_sample(s->model, "w", 2, dp_normal(0, 1));
    dp_expr a = dp_sample_in(groups, "a", 1, dp_normal(0, 1));
    dp_expr c = dp_sample(s->model, "c", 1, dp_normal(0, 1));
    dp_expr sum = dp_add(dp_dot(dp_data(rows, "x", 2), w), dp_pick(a, dp_index(rows, "g", groups)));
    sum = dp_add(sum, dp_mul(c, dp_data(rows, "shade", 1)));
    dp_observe(rows, "y", dp_normal_v(sum, dp_num(1)));
    assert_ok(dpi_model_view_init(&s->view, s->model, &err), err.text);
    assert_ok(dp_rng_new(71, &s->rng, &err), err.text);
    s->data = dp_dataset_new(ROWS);
    dp_dataset_real(s->data, "x", 2, *x);
    dp_dataset_index(s->data, "g", g);
    dp_dataset_bytes(s->data, "shade", 1, 64, shade);
    dp_dataset_real(s->data, "unread", 1, unread);
}

static void tear_down(scene *s)
{
    dp_dataset_free(s->data);
    dp_rng_free(s->rng);
    dpi_model_view_free(&s->view);
    dp_model_free(s->model);
}

static dp_status invent(scene *s, const dp_dataset *from, size_t n, dp_error *err)
{
    return dpi_invent(&s->made, &s->view, from, n, s->rng, err);
}

/* Which of the rows record i is: all of its columns are that row's. */
static size_t row_of(const scene *s, size_t i)
{
    const dpi_column *to_x = dpi_dataset_find(s->made.data, "x"),
                     *to_g = dpi_dataset_find(s->made.data, "g"),
                     *to_shade = dpi_dataset_find(s->made.data, "shade");
    for (size_t k = 0; k < ROWS; k++)
        if (memcmp(to_x->real + 2 * i, x[k], sizeof x[k]) == 0 && to_g->index[i] == g[k] &&
            to_shade->bytes[i] == shade[k] && to_shade->most == 64)
            return k;
    fail_msg("record %zu is none that was given", i);
    return 0;
}

static void as_many_records_are_those_that_are_given(void **state)
{
    scene s;
    dp_error err = {0};
    (void)state;
    set_up(&s);
    assert_ok(invent(&s, s.data, ROWS, &err), err.text);
    assert_int_equal(dp_dataset_size(s.made.data), ROWS);
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(row_of(&s, i), i);
    assert_null(dpi_dataset_find(s.made.data, "unread"));
    assert_null(dpi_dataset_find(s.made.data, "y"));
    dpi_invented_free(&s.made);
    tear_down(&s);
}

/* 4000 draws of 5 rows: each comes 800 times, standard deviation 25.3; 6.4 of them are 1.6e-10. */
static void others_are_drawn_from_them(void **state)
{
    enum { MANY = 4000 };
    scene s;
    dp_error err = {0};
    double count[ROWS] = {0};
    (void)state;
    set_up(&s);
    assert_ok(invent(&s, s.data, MANY, &err), err.text);
    for (size_t i = 0; i < MANY; i++)
        count[row_of(&s, i)]++;
    for (size_t k = 0; k < ROWS; k++)
        assert_close(count[k], MANY / ROWS, 0, 6.4 * 25.3);
    dpi_invented_free(&s.made);
    assert_ok(invent(&s, s.data, 2, &err), err.text);
    assert_int_equal(dp_dataset_size(s.made.data), 2);
    (void)row_of(&s, 1);
    dpi_invented_free(&s.made);
    tear_down(&s);
}

/* Of 8000 standard normal numbers the mean has standard deviation 0.0112, the mean square 0.0158;
 * groups come 1000 times, 27.4.  6.5 of each are 8e-11. */
static void of_no_records_numbers_are_normal_and_groups_even(void **state)
{
    enum { MANY = 4000 };
    scene s;
    dp_error err = {0};
    double mean = 0, square = 0, count[GROUPS] = {0};
    (void)state;
    set_up(&s);
    assert_ok(invent(&s, NULL, MANY, &err), err.text);
    const dpi_column *to_x = dpi_dataset_find(s.made.data, "x"),
                     *to_g = dpi_dataset_find(s.made.data, "g");
    assert_int_equal(to_x->size, 2);
    for (size_t i = 0; i < 2 * MANY; i++) {
        mean += to_x->real[i] / (2 * MANY);
        square += to_x->real[i] * to_x->real[i] / (2 * MANY);
    }
    assert_close(mean, 0, 0, 6.5 * 0.0112);
    assert_close(square, 1, 0, 6.5 * 0.0158);
    for (size_t i = 0; i < MANY; i++)
        count[to_g->index[i]]++;
    for (size_t k = 0; k < GROUPS; k++)
        assert_close(count[k], MANY / GROUPS, 0, 6.5 * 27.4);
    dpi_invented_free(&s.made);
    tear_down(&s);
}

static void outcomes_stand_beside_the_columns(void **state)
{
    scene s;
    dp_error err = {0};
    dp_dataset *whole;
    const double y[ROWS] = {0.1, 0.2, 0.3, 0.4, 0.5};
    (void)state;
    set_up(&s);
    assert_ok(invent(&s, s.data, ROWS, &err), err.text);
    assert_ok(dpi_invented_with(&s.made, "y", y, &whole, &err), err.text);
    assert_int_equal(dp_dataset_size(whole), ROWS);
    assert_ptr_equal(dpi_dataset_find(whole, "y")->real, y);
    assert_ptr_equal(dpi_dataset_find(whole, "g")->index,
                     dpi_dataset_find(s.made.data, "g")->index);
    assert_ptr_equal(dpi_dataset_find(whole, "x")->real, dpi_dataset_find(s.made.data, "x")->real);
    assert_int_equal(dpi_dataset_find(whole, "shade")->most, 64);
    dp_dataset_free(whole);
    dpi_invented_free(&s.made);
    tear_down(&s);
}

static void what_cannot_be_drawn_is_refused(void **state)
{
    scene s;
    dp_error err = {0};
    (void)state;
    set_up(&s);
    dp_dataset *without = dp_dataset_new(ROWS), *none = dp_dataset_new(0),
               *drawn = dp_dataset_new(ROWS);
    dp_dataset_real(without, "x", 2, *x);
    dp_dataset_real(drawn, "x", 2, *x);
    dp_dataset_index(drawn, "g", g);
    dp_dataset_bernoulli(drawn, "shade", 1, 64, shade);
    assert_fails(invent(&s, without, ROWS, &err), DP_ENAME, &err, "'g'");
    dpi_invented_free(&s.made);
    assert_fails(invent(&s, drawn, ROWS, &err), DP_EUNSUPPORTED, &err, "'shade'");
    dpi_invented_free(&s.made);
    assert_fails(invent(&s, none, ROWS, &err), DP_EDATA, &err, "no records");
    assert_fails(invent(&s, s.data, 0, &err), DP_EINVAL, &err, "records is 0");
    dp_dataset_unit(s.data, "g");
    assert_fails(invent(&s, s.data, ROWS, &err), DP_EUNSUPPORTED, &err, "units");
    dp_dataset_real(s.data, "x", 2, *x); /* twice: an error that sticks */
    assert_int_not_equal(invent(&s, s.data, ROWS, &err), DP_OK);
    assert_contains(err.text, "'x'");
    dp_dataset_free(without);
    dp_dataset_free(none);
    dp_dataset_free(drawn);
    tear_down(&s);
}

static void every_failed_allocation_is_reported(void **state)
{
    scene s;
    (void)state;
    set_up(&s);
    size_t before = faulty_live();
    for (int call = 0; call < 2; call++)
        for (size_t k = 1;; k++) {
            dp_error err = {0};
            dp_dataset *whole = NULL;
            faulty_fail(k);
            dp_status status = invent(&s, call == 0 ? s.data : NULL, 7, &err);
            if (status == DP_OK)
                status = dpi_invented_with(&s.made, "y", *x, &whole, &err);
            int failed = faulty_failed();
            faulty_fail(0);
            assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
            assert_int_equal(whole == NULL, status != DP_OK);
            dp_dataset_free(whole);
            dpi_invented_free(&s.made);
            assert_int_equal(faulty_live(), before);
            if (!failed)
                break;
        }
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_records_are_those_that_are_given),
        cmocka_unit_test(others_are_drawn_from_them),
        cmocka_unit_test(of_no_records_numbers_are_normal_and_groups_even),
        cmocka_unit_test(outcomes_stand_beside_the_columns),
        cmocka_unit_test(what_cannot_be_drawn_is_refused),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
