/* What is known of every record without asking: which latent makes the scale of outcomes. */
#include "infer/shared.h"

#include <math.h>
#include <string.h>

#include <tacit/model.h>

#include "tests/infer/readers.h"
#include "tests/lib/check.h"

enum { RECORDS = 10 };

static dp_expr latent(dp_model *m, const char *name)
{
    return dp_sample(m, name, 1, dp_half_normal(1));
}

static dp_model *observed(dp_model *m, dp_plate rows, dp_dist outcome)
{
    dp_observe(rows, "positive", outcome);
    return m;
}

static dp_model *plain(void)
{
    dp_model *m = dp_model_new();
    dp_expr mean = dp_sample(m, "mean", 1, dp_normal(0, 1));
    return observed(m, dp_unit_plate(m, "rows"), dp_normal_v(mean, latent(m, "sigma")));
}

static dp_model *of_logarithms(void)
{
    dp_model *m = dp_model_new();
    dp_expr mean = dp_sample(m, "mean", 1, dp_normal(0, 1));
    return observed(m, dp_unit_plate(m, "rows"), dp_log_normal_v(mean, latent(m, "sigma")));
}

/* A location is the exponential of its latent, and the scale is not. */
static dp_model *bounded(void)
{
    dp_model *m = dp_model_new();
    dp_expr sigma = dp_sample(m, "sigma", 1, dp_uniform(0, 5));
    return observed(m, dp_unit_plate(m, "rows"), dp_normal_v(latent(m, "mean"), sigma));
}

static dp_model *of_precision(void)
{
    dp_model *m = dp_model_new();
    dp_expr sigma = dp_div(dp_num(1), dp_sqrt(latent(m, "sigma")));
    return observed(m, dp_unit_plate(m, "rows"), dp_normal_v(latent(m, "mean"), sigma));
}

static dp_model *with_tails(void)
{
    dp_model *m = dp_model_new();
    dp_expr df = latent(m, "df"), mean = dp_sample(m, "mean", 1, dp_normal(0, 1));
    return observed(m, dp_unit_plate(m, "rows"), dp_student_t_v(df, mean, latent(m, "sigma")));
}

static dp_model *of_two(void)
{
    dp_model *m = dp_model_new();
    dp_expr sigma = dp_mul(latent(m, "sigma"), latent(m, "other"));
    return observed(m, dp_unit_plate(m, "rows"), dp_normal_v(latent(m, "mean"), sigma));
}

static dp_model *shared_with_the_mean(void)
{
    dp_model *m = dp_model_new();
    dp_expr sigma = latent(m, "sigma");
    return observed(m, dp_unit_plate(m, "rows"), dp_normal_v(dp_scale(2, sigma), sigma));
}

static dp_model *of_groups(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "g", READER_G);
    dp_expr each = dp_sample_in(groups, "sigma", 1, dp_log_normal(0, 1));
    dp_expr sigma = dp_pick(each, dp_index(rows, "g", groups));
    return observed(m, rows, dp_normal_v(latent(m, "mean"), sigma));
}

static dp_model *of_records(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr sigma = dp_add(latent(m, "sigma"), dp_data(rows, "count", 1));
    return observed(m, rows, dp_normal_v(latent(m, "mean"), sigma));
}

static dp_model *public_scale(void)
{
    dp_model *m = dp_model_new();
    return observed(m, dp_unit_plate(m, "rows"), dp_normal_v(latent(m, "sigma"), dp_num(2)));
}

static const struct {
    dp_model *(*make)(void);
    bool found;
    double power; /* NAN: that of a number in (0, 5) */
} cases[] = {{plain, true, 1},         {of_logarithms, true, 1},
             {bounded, true, NAN},     {of_precision, true, -.5},
             {with_tails, true, 1},    {of_two, false, 0},
             {of_groups, false, 0},    {of_records, false, 0},
             {public_scale, false, 0}, {shared_with_the_mean, false, 0}};

/* The coordinate of the latent "sigma"; p: none. */
static size_t place_of(const dpi_model_view *r)
{
    for (const dpi_read *a = r->reads; a < r->reads + r->n_reads; a++)
        if (strcmp(a->block->name, "sigma") == 0)
            return a->at;
    return r->p;
}

static void check_case(size_t c)
{
    static reader_records records;
    reading r;
    dpi_scan scan;
    dpi_shared s;
    dp_error err = {0};
    reading_make(&r, &(reader){.make = cases[c].make});
    reader_draw(&records, 3);
    dp_dataset *data = reader_data(&records, RECORDS);
    dpi_scan_spec spec = {.view = &r.view, .data = data, .threads = 1, .most = 1, .most_room = 1};
    assert_ok(dpi_scan_init(&scan, &spec, &err), err.text);
    assert_ok(dpi_shared_init(&s, r.view.p, &r.arena, &err), err.text);
    dpi_shared_find(&s, &scan, r.theta);
    size_t at = place_of(&r.view);
    if (s.outcome != (cases[c].found ? at : r.view.p))
        fail_msg("case %zu: coordinate %zu of %zu makes the scale", c, s.outcome, r.view.p);
    double power = cases[c].power;
    if (cases[c].found && isnan(power)) /* d log (5 / (1 + e^-x)) / dx */
        power = 1 - *dpi_scan_shared_arg(&scan, 1) / 5;
    assert_close(s.power, power, 1e-12, 0);
    if (cases[c].make == of_logarithms || cases[c].make == plain)
        assert_close(s.bend, 1, 1e-6, 0);
    dpi_scan_free(&scan);
    dp_dataset_free(data);
    reading_free(&r);
}

static void what_makes_the_scale_of_outcomes_is_known(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        check_case(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_makes_the_scale_of_outcomes_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
