/* Intervals of the public calls against independent references: every mechanism, lists, widths. */
#include <tacit/accountant.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/accountant/oracle.h"
#include "tests/lib/check.h"

static dp_interval epsilon_of(const dp_mechanism *list, size_t n, double delta)
{
    dp_error err = {0};
    dp_interval e;
    assert_ok(dp_account_epsilon(list, n, delta, 0, &e, &err), err.text);
    assert_true(e.lower >= 0 && e.lower <= e.upper);
    return e;
}

/* The exact value is known to 1e-9 relative. */
static void check_exact(dp_interval e, double exact, const char *what)
{
    bool holds = e.lower <= exact * (1 + 1e-8) && e.upper >= exact * (1 - 1e-8);
    bool narrow = e.upper - e.lower <= 1e-3 * e.upper;
    bool agrees = !(e.estimate == e.estimate) || fabs(e.estimate / exact - 1) <= 1e-8;
    if (!holds || !narrow || !agrees)
        fail_msg("%s: [%.12g, %.12g], contour %.12g for %.12g", what, e.lower, e.upper, e.estimate,
                 exact);
}

/* Another tool's certified [low, high] meets ours. */
static void check_meets(dp_interval e, double low, double high, const char *what)
{
    if (!(e.lower <= high * (1 + 1e-9) && e.upper >= low * (1 - 1e-9)))
        fail_msg("%s: [%.12g, %.12g] for [%.12g, %.12g]", what, e.lower, e.upper, low, high);
}

static dp_mechanism poisson(double sigma, double rate, double steps)
{
    return (dp_mechanism){
        .sampling = DP_SAMPLING_POISSON, .sigma = sigma, .rate = rate, .steps = (uint64_t)steps};
}

static void the_published_value_lies_inside(void **state)
{
    (void)state;
    dp_mechanism m = poisson(1.5, 128.0 / 60000, 9375);
    dp_interval e = epsilon_of(&m, 1, 1.0 / 60000);
    check_exact(e, 0.5355529138037133, "mnist");
    check_meets(e, 0.53555, 0.53555, "published");
    assert_int_equal(e.worse, DP_WORSE_REMOVE);
    assert_string_equal(e.method, "grid and contour");
    assert_true(e.grid > 0);
}

static void fixed_batches_get_both_bounds(void **state)
{
    (void)state;
    dp_mechanism m = {
        .sampling = DP_SAMPLING_FIXED, .sigma = 1.5, .rate = 128.0 / 60000, .steps = 9375};
    dp_interval e = epsilon_of(&m, 1, 1.0 / 60000);
    assert_true(e.lower <= 1.98467056723 && e.lower > 1.98467056723 * (1 - 1e-3));
    assert_true(e.upper >= 2.5038877269 && e.upper < 2.5038877269 * (1 + 1e-3));
    assert_int_equal(e.worse, DP_WORSE_EITHER);
    /* Koskela's pair, which assumes Poisson sampling, says less than half of what is realised. */
    m.sampling = DP_SAMPLING_POISSON;
    m.adjacency = DP_REPLACE_ONE;
    check_exact(epsilon_of(&m, 1, 1.0 / 60000), 1.01254478774, "replace one");
}

/* With q = 1 fixed batches are full ones, with twice the sensitivity. */
static void replacing_a_record_of_all_moves_the_sum_twice_as_far(void **state)
{
    (void)state;
    dp_mechanism fixed = {.sampling = DP_SAMPLING_FIXED, .sigma = 1, .rate = 1, .steps = 1};
    dp_mechanism full = {.sampling = DP_SAMPLING_FULL, .sigma = 0.5, .rate = 1, .steps = 1};
    check_exact(epsilon_of(&fixed, 1, 1e-5), epsilon_of(&full, 1, 1e-5).estimate, "twice");
    full.sigma = 1;
    full.adjacency = DP_REPLACE_ONE;
    check_exact(epsilon_of(&full, 1, 1e-5), 9.99725614643, "replace one of all");
}

static void lists_compose(void **state)
{
    (void)state;
    dp_mechanism list[] = {poisson(1.5, 0.0021333333333333334, 5000),
                           poisson(1, 0.005, 2000),
                           {.sampling = DP_SAMPLING_FULL, .sigma = 20, .rate = 1, .steps = 10}};
    check_exact(epsilon_of(list, 3, 1e-5), 1.42413281823, "three");
    dp_mechanism growing[] = {poisson(2, 0.01, 1000), poisson(1.5, 0.01, 1000),
                              poisson(1.2, 0.01, 1000), poisson(1, 0.01, 1000)};
    check_exact(epsilon_of(growing, 4, 1e-6), 2.92537650219, "four");
    dp_mechanism two[] = {poisson(4, 0.05, 100),
                          {.sampling = DP_SAMPLING_FULL, .sigma = 30, .rate = 1, .steps = 1}};
    check_exact(epsilon_of(two, 2, 1e-8), 0.693955666977, "two");
    dp_mechanism closed[] = {{.sampling = DP_SAMPLING_FULL, .sigma = 3, .rate = 1, .steps = 9},
                             {.sampling = DP_SAMPLING_FULL, .sigma = 4, .rate = 1, .steps = 16}};
    dp_mechanism one = {.sampling = DP_SAMPLING_FULL, .sigma = sqrt(0.5), .rate = 1, .steps = 1};
    dp_interval e = epsilon_of(closed, 2, 1e-6);
    assert_string_equal(e.method, "closed form");
    check_exact(e, epsilon_of(&one, 1, 1e-6).estimate, "closed form");
}

/* Far out nothing is proved from below, and nothing is claimed. */
/* One grid for all: where it suits the large losses, all of a small one lies between two knots. */
static void lists_of_very_different_terms_have_lower_bounds(void **state)
{
    (void)state;
    const double rows[][9] = {
        {6.641845798471189, 0.7608920115418135, 415, 3.446918347905008, 0.0021594915001505624,
         11969, 7.660838434548836, 6.532368837111743e-12, 18.348965876342522},
        {34.031276165255086, 2.2857388382745064e-05, 17237, 0.6186590499238007, 0.04288863325684196,
         2969, 57.151045721273185, 2.287777363245039e-05, 53.19327054696544},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double *r = rows[i];
        dp_mechanism list[] = {
            poisson(r[0], r[1], r[2]),
            poisson(r[3], r[4], r[5]),
            {.sampling = DP_SAMPLING_FULL, .sigma = r[6], .rate = 1, .steps = 5}};
        check_exact(epsilon_of(list, 3, r[7]), r[8], "terms of different size");
    }
}

static void closed_forms_are_bounds_on_both_sides(void **state)
{
    (void)state;
    const double epsilons[] = {0, 1e-3, 0.5, 3, 20, 300, 1e6, 1e300};
    for (int i = 0; i < 8; i++)
        for (double sigma = 0.05; sigma < 1e6; sigma *= 7) {
            dp_mechanism m = {.sampling = DP_SAMPLING_FULL, .sigma = sigma, .rate = 1, .steps = 3};
            dp_interval d;
            dp_error err = {0};
            double mu = sqrt(3) / sigma;
            double chernoff =
                epsilons[i] > mu * mu / 2 ? exp(-0.5 * pow(epsilons[i] / mu - mu / 2, 2)) : 1;
            dp_status status = dp_account_delta(&m, 1, epsilons[i], 0, &d, &err);
            assert_true(status == DP_OK || status == DP_EACCURACY);
            assert_true(d.lower >= 0 && d.lower <= d.upper && d.upper <= 1);
            assert_true(d.lower <= chernoff * (1 + 1e-9));
        }
    dp_mechanism m = {.sampling = DP_SAMPLING_FULL, .sigma = 1, .rate = 1, .steps = 1};
    dp_interval d;
    assert_int_equal(dp_account_delta(&m, 1, 1, 0, &d, NULL), DP_OK);
    assert_close(d.lower, 0.12693673750664394, 1e-12, 0);
    assert_close(d.upper, 0.12693673750664394, 1e-12, 0);
    assert_int_equal(dp_account_delta(&m, 1, 1, 1e-16, &d, NULL), DP_EACCURACY);
}

static dp_mechanism noise(dp_noise_law law, double sigma, double rate, double steps)
{
    dp_mechanism m = poisson(sigma, rate, steps);
    m.noise = law;
    m.sampling = rate == 1 ? DP_SAMPLING_FULL : DP_SAMPLING_POISSON;
    return m;
}

/* References: dp_accounting 0.6.0, both bounds. */
static void other_noises_meet_their_references(void **state)
{
    (void)state;
    const struct {
        dp_mechanism m;
        double delta, low, high;
    } rows[] = {
        {noise(DP_NOISE_LAPLACE, 1, 1, 1), 1e-6, 0.999988000008, 0.999998000003},
        {noise(DP_NOISE_LAPLACE, 1, 1, 10), 1e-6, 9.99887811497, 9.99897808949},
        {noise(DP_NOISE_LAPLACE, 5, 1, 100), 1e-6, 10.2764402014, 10.2764810975},
        {noise(DP_NOISE_LAPLACE, 1, 0.01, 1000), 1e-6, 1.27929060323, 1.28640751735},
        {noise(DP_NOISE_LAPLACE, 2, 0.1, 100), 1e-8, 2.5763802735, 2.57694452535},
        {noise(DP_NOISE_DISCRETE_GAUSSIAN, 1, 1, 1), 1e-6, 4.49958102296, 4.49959098219},
        {noise(DP_NOISE_DISCRETE_GAUSSIAN, 1, 1, 10), 1e-6, 19.4915885358, 19.4916385213},
        {noise(DP_NOISE_DISCRETE_GAUSSIAN, 4, 1, 100), 1e-6, 14.4503806379, 14.450753565},
        {noise(DP_NOISE_DISCRETE_GAUSSIAN, 2, 0.1, 100), 1e-6, 2.67457781072, 2.67503508698},
        /* Exact: sums of discrete Gaussians are one, to e^-1000, at this sigma.  (dp_accounting's
         * upper bound, 29.3751708924, is below it.) */
        {noise(DP_NOISE_DISCRETE_GAUSSIAN, 8, 1, 1000), 1e-8, 29.3751720038, 29.3751720039},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dp_interval e = epsilon_of(&rows[i].m, 1, rows[i].delta);
        check_meets(e, rows[i].low, rows[i].high, "noise");
        assert_true(e.upper - e.lower <= 1e-3 * e.upper);
    }
    dp_mechanism m = noise(DP_NOISE_RANDOMISED_RESPONSE, 0.5, 1, 10);
    m.categories = 2;
    check_meets(epsilon_of(&m, 1, 1e-6), 10.9860822421, 10.9861822421, "two answers");
    m = noise(DP_NOISE_RANDOMISED_RESPONSE, 0.2, 1, 5);
    m.categories = 10;
    check_meets(epsilon_of(&m, 1, 1e-6), 18.5678473027, 18.5678973027, "ten answers");
}

static void mixtures_of_jumps_meet_their_references(void **state)
{
    (void)state;
    const double jumps[] = {0, 1, 2, 3}, few[] = {0.9, 0.08, 0.02}, many[] = {0.7, 0.2, 0.08, 0.02};
    dp_mechanism m = {.sampling = DP_SAMPLING_FULL, .sigma = 1, .rate = 1, .steps = 10};
    m.jumps = jumps;
    m.chances = few;
    m.n_jumps = 3;
    check_meets(epsilon_of(&m, 1, 1e-6), 7.68233945866, 7.68284014228, "three jumps");
    m.sigma = 2;
    m.steps = 100;
    m.chances = many;
    m.n_jumps = 4;
    check_meets(epsilon_of(&m, 1, 1e-6), 15.8507930482, 15.8994405406, "four jumps");
}

/* dp_accounting's upper bounds; ours may be lower. */
static void a_largest_batch_costs_what_it_must(void **state)
{
    (void)state;
    dp_mechanism m = poisson(1.5, 0.00213333333, 9375);
    m.sampling = DP_SAMPLING_TRUNCATED;
    m.records = 60000;
    double before = INFINITY;
    const double caps[] = {150, 170, 200},
                 published[] = {0.749168154371, 0.537634681749, 0.53555477818};
    for (int i = 0; i < 3; i++) {
        m.cap = (uint64_t)caps[i];
        dp_interval e = epsilon_of(&m, 1, 1.0 / 60000);
        assert_true(e.upper <= published[i] * (1 + 1e-3));
        assert_true(e.lower <= 0.5355529138037133 * (1 + 1e-3) && e.upper >= 0.5355);
        assert_true(e.upper < before);
        before = e.upper;
    }
}

/* Rows of a reference file of `n_columns` numbers; NULL when there is no folder of references. */
static FILE *open_rows(const char *name)
{
    char path[4096], line[4096];
    if (oracle_file(name, path) == NULL)
        return NULL;
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    return f;
}

static void every_row_of_the_poisson_file_is_met(void **state)
{
    (void)state;
    char line[1024];
    FILE *f = open_rows("poisson.csv");
    if (f == NULL) {
        print_message("# no folder of references: skipped\n");
        skip();
        return;
    }
    while (fgets(line, sizeof line, f) != NULL) {
        double sigma, q, steps, delta, low, high;
        assert_int_equal(
            sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf", &sigma, &q, &steps, &delta, &low, &high), 6);
        dp_mechanism m = poisson(sigma, q, steps);
        dp_interval e = epsilon_of(&m, 1, delta);
        check_meets(e, low, high, line);
        assert_true(e.upper - e.lower <= 1e-3 * e.upper);
        if (high / low - 1 < 1e-8)
            check_exact(e, (low + high) / 2, line);
    }
    (void)fclose(f);
}

static void every_row_of_the_fixed_size_file_is_met(void **state)
{
    (void)state;
    char line[1024];
    FILE *f = open_rows("fixed_size.csv");
    if (f == NULL) {
        print_message("# no folder of references: skipped\n");
        skip();
        return;
    }
    while (fgets(line, sizeof line, f) != NULL) {
        double sigma, n, batch, q, steps, delta, low, high;
        assert_int_equal(sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &sigma, &n, &batch, &q,
                                &steps, &delta, &low, &high),
                         8);
        dp_mechanism m = poisson(sigma, q, steps);
        m.sampling = DP_SAMPLING_FIXED;
        dp_interval e = epsilon_of(&m, 1, delta);
        if (!(e.lower <= low * (1 + 1e-8) && e.lower >= low * (1 - 1e-3) &&
              e.upper >= high * (1 - 1e-8) && e.upper <= high * (1 + 1e-3)))
            fail_msg("%s: [%.12g, %.12g]", line, e.lower, e.upper);
    }
    (void)fclose(f);
}

static void every_row_of_the_curve_file_is_met(void **state)
{
    (void)state;
    char line[1024], name[64], direction[16];
    FILE *f = open_rows("curve.csv");
    if (f == NULL) {
        print_message("# no folder of references: skipped\n");
        skip();
        return;
    }
    while (fgets(line, sizeof line, f) != NULL) {
        double sigma, q, steps, epsilon, delta;
        assert_int_equal(sscanf(line, "%63[^,],%lf,%lf,%lf,%15[^,],%lf,%lf", name, &sigma, &q,
                                &steps, direction, &epsilon, &delta),
                         7);
        if (strcmp(direction, "remove") != 0 || delta < 1e-25)
            continue; /* remove is the worse one in all of them; the last delta is 2e-29 */
        dp_mechanism m = poisson(sigma, q, steps);
        dp_interval d;
        dp_error err = {0};
        assert_ok(dp_account_delta(&m, 1, epsilon, 1e-2, &d, &err), err.text);
        if (!(d.lower <= delta * (1 + 1e-9) && d.upper >= delta * (1 - 1e-9) &&
              d.upper - d.lower <= 1e-2 * d.upper))
            fail_msg("%s: [%.12g, %.12g]", line, d.lower, d.upper);
    }
    (void)fclose(f);
}

/* At high rates and much noise all losses lie far from the base, -log(1-q), and close together: the
 * tilts that small deltas need overflow around the base.  The contour, which shifts, is the
 * reference. */
static void losses_far_from_the_base_are_bounded(void **state)
{
    (void)state;
    const double deltas[] = {1e-10, 2e-15, 1e-20, 1e-29};
    const dp_mechanism m = {
        .sampling = DP_SAMPLING_POISSON, .sigma = 799.45, .rate = 0.6447, .steps = 17};
    for (int i = 0; i < 4; i++) {
        dp_error err = {0};
        dp_interval e;
        assert_ok(dp_account_epsilon(&m, 1, deltas[i], 0, &e, &err), err.text);
        assert_true(e.lower <= e.estimate && e.estimate <= e.upper);
        assert_true(e.upper - e.lower <= 1e-3 * e.upper && e.grid <= 1 << 13);
    }
}

static void a_narrower_interval_can_be_asked_for(void **state)
{
    (void)state;
    dp_mechanism m = poisson(2, 0.01, 1000);
    const double widths[] = {0.1, 1e-3, 1e-4, 1e-5};
    for (int i = 0; i < 4; i++) {
        dp_interval e;
        dp_error err = {0};
        assert_ok(dp_account_epsilon(&m, 1, 1e-6, widths[i], &e, &err), err.text);
        assert_true(e.upper - e.lower <= widths[i] * e.upper);
        assert_true(e.lower <= 0.72091605674 && e.upper >= 0.72091605673);
    }
}

/* Squares of mu, each just below half an ulp of what the first releases come to: a plain sum has
 * none of them, and epsilon as much too small as all of them make. */
static void many_small_releases_add_up(void **state)
{
    (void)state;
    SKIP_WITHOUT_LONG_DOUBLE();
    enum { MANY = 8000 };
    static dp_mechanism list[1 + MANY];
    const double delta = 1e-5;
    long double squares = 0;
    for (size_t k = 0; k <= MANY; k++) {
        list[k] = (dp_mechanism){.sampling = DP_SAMPLING_FULL,
                                 .sigma = k == 0 ? 0.0625 : 7.5e5,
                                 .rate = 1,
                                 .steps = k == 0 ? 65 : 1};
        const long double sigma = list[k].sigma;
        squares += list[k].steps / (sigma * sigma);
    }
    dp_interval e;
    dp_error err = {0};
    assert_ok(dp_account_epsilon(list, 1 + MANY, delta, 0, &e, &err), err.text);
    const long double mu = sqrtl(squares), root = sqrtl(0.5L);
    for (int i = 0; i < 2; i++) {
        const long double at = i == 0 ? e.lower : e.upper, x = at / mu - mu / 2;
        const long double value = erfcl(x * root) / 2 - expl(at) * erfcl((x + mu) * root) / 2;
        assert_true(i == 0 ? value >= delta * (1 - 1e-13L) : value <= delta * (1 + 1e-13L));
    }
}

/* Where rounding of the transform decides, a plan for a narrower interval may end where that for a
 * wider one does not. */
static void wider_intervals_are_answered_where_narrower_ones_are(void **state)
{
    (void)state;
    static const struct {
        double sigma, rate, delta, width;
        uint64_t steps;
    } cases[] = {{0.45588945830814009, 9.8055141162144712e-07, 1.5440680812931437e-10, 0.01, 2},
                 {0.67901659465291431, 3.4327485255927584e-07, 4.2050383523971345e-13, 0.01, 3},
                 {0.4255777712475462, 1.5759449078092995e-07, 3.1329871986168922e-14, 0.3, 194}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const dp_mechanism m = {.sampling = DP_SAMPLING_POISSON,
                                .sigma = cases[k].sigma,
                                .rate = cases[k].rate,
                                .steps = cases[k].steps};
        dp_interval e;
        dp_error err = {0};
        const double width = cases[k].width;
        assert_ok(dp_account_epsilon(&m, 1, cases[k].delta, width, &e, &err), err.text);
        assert_true(e.lower > 0 && e.upper - e.lower <= width * e.upper);
    }
}

static void refuses(const dp_mechanism *list, size_t n, double delta, double width,
                    dp_status status, const char *says)
{
    dp_error err = {0};
    dp_interval e;
    double figure = 0;
    assert_int_equal(dp_account_epsilon(list, n, delta, width, &e, &err), status);
    assert_contains(err.text, says);
    assert_true(e.upper == INFINITY && e.lower == 0 && isnan(e.estimate));
    if (width == 0) {
        assert_int_equal(dp_contour_epsilon(list, n, delta, &figure, NULL), status);
        assert_true(isnan(figure));
    }
}

static void refuses_what_makes_no_list(void **state)
{
    (void)state;
    dp_mechanism list[] = {poisson(1, 0.01, 100), poisson(1, 0.01, 100)};
    refuses(list, 0, 1e-5, 0, DP_EDOMAIN, "give at least one");
    refuses(list, 1, 1e-5, -1, DP_EDOMAIN, "width is");
    refuses(list, 1, 1e-5, NAN, DP_EDOMAIN, "width is");
    refuses(list, 1, 2, 0, DP_EDOMAIN, "delta is");
    list[1].adjacency = DP_REPLACE_ONE;
    refuses(list, 2, 1e-5, 0, DP_EMISMATCH, "mechanism 2 speaks of one record replaced");
    list[1].adjacency = DP_ADD_REMOVE;
    list[1].sigma = NAN;
    refuses(list, 2, 1e-5, 0, DP_EDOMAIN, "sigma is");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_value_lies_inside),
        cmocka_unit_test(fixed_batches_get_both_bounds),
        cmocka_unit_test(replacing_a_record_of_all_moves_the_sum_twice_as_far),
        cmocka_unit_test(lists_compose),
        cmocka_unit_test(lists_of_very_different_terms_have_lower_bounds),
        cmocka_unit_test(closed_forms_are_bounds_on_both_sides),
        cmocka_unit_test(other_noises_meet_their_references),
        cmocka_unit_test(mixtures_of_jumps_meet_their_references),
        cmocka_unit_test(a_largest_batch_costs_what_it_must),
        cmocka_unit_test(every_row_of_the_poisson_file_is_met),
        cmocka_unit_test(every_row_of_the_fixed_size_file_is_met),
        cmocka_unit_test(every_row_of_the_curve_file_is_met),
        cmocka_unit_test(losses_far_from_the_base_are_bounded),
        cmocka_unit_test(a_narrower_interval_can_be_asked_for),
        cmocka_unit_test(many_small_releases_add_up),
        cmocka_unit_test(wider_intervals_are_answered_where_narrower_ones_are),
        cmocka_unit_test(refuses_what_makes_no_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
