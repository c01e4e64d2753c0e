/* Policies of a site: each line forbids what it says, and what is not said is forbidden. */
#define _XOPEN_SOURCE 700
#include "silo/policy.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/silo/plans.h"

static plans p;
static dp_silo_plan *plan, *open_plan; /* with noise, and without */

static int set_up(void **state)
{
    (void)state;
    plans_make(&p);
    plan = plans_plan(&p, 0);
    p.opts.scheme = "fedsgd";
    p.opts.epsilon = p.opts.delta = 0;
    open_plan = plans_plan(&p, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dp_silo_plan_free(plan);
    dp_silo_plan_free(open_plan);
    plans_free(&p);
    return 0;
}

#define BASE "schemes = secagg+dp\nepsilon = 4\ndelta = 1e-5\nowners = 3\n"

static dp_status apply(const dp_silo_plan *to, const char *text, dp_error *err)
{
    *err = (dp_error){0};
    return dpi_site_policy_apply(text, strlen(text), "site", to, err);
}

static void allows(const dp_silo_plan *to, const char *text)
{
    dp_error err;
    assert_ok(apply(to, text, &err), err.text);
}

static void refuses(const dp_silo_plan *to, const char *text, dp_status expected, const char *why)
{
    dp_error err;
    assert_fails(apply(to, text, &err), expected, &err, why);
}

static void each_line_forbids_what_it_says(void **state)
{
    (void)state;
    allows(plan, BASE);
    allows(plan, "# what we allow\n\n" BASE "colluders = 1 # at least\nno-noise = no\n");
    allows(plan, "schemes = fedsgd secagg+dp\nepsilon = 5\ndelta = 1\nowners = 0\n");
    refuses(plan, "schemes = fedsgd\nepsilon = 4\ndelta = 1e-5\nowners = 3\n", DP_EPRIVACY,
            "site:1, does not allow it: its scheme");
    refuses(plan, BASE "epsilon = 3.999\n", DP_EPRIVACY, "site:5, does not allow it: its epsilon");
    refuses(plan, BASE "delta = 0.99999e-5\n", DP_EPRIVACY, "its delta is larger");
    refuses(plan, BASE "owners = 4\n", DP_EPRIVACY, "fewer owners");
    refuses(plan, BASE "colluders = 2\n", DP_EPRIVACY, "fewer colluders");
    refuses(plan, BASE "schemes = fedsgd\n", DP_EPRIVACY, "its scheme"); /* all lines hold */
    refuses(plan, BASE "epsilon = 0\nepsilon = 9\n", DP_EPRIVACY, "its epsilon");
}

/* Against another owner a plan without colluders costs more than it says. */
static void who_does_not_say_so_reckons_with_a_colluder(void **state)
{
    plans q;
    (void)state;
    plans_make(&q);
    q.opts.trusting = true;
    q.opts.colluders = 0;
    dp_silo_plan *trusting = plans_plan(&q, 0);
    refuses(trusting, BASE, DP_EPRIVACY, "no `colluders = 0`");
    allows(trusting, BASE "colluders = 0\n");
    dp_silo_plan_free(trusting);
    plans_free(&q);
}

static void hidden_sums_without_noise_must_be_said_too(void **state)
{
    plans q;
    (void)state;
    plans_make(&q);
    q.opts.scheme = "fedsgd+he";
    q.opts.epsilon = q.opts.delta = 0;
    dp_silo_plan *keyed = plans_plan(&q, 0);
    static const char base[] = "schemes = fedsgd+he\nepsilon = 0\ndelta = 0\nowners = 3\n";
    char text[256];
    refuses(keyed, base, DP_EPRIVACY, "no noise");
    (void)snprintf(text, sizeof text, "%sno-noise = yes\n", base);
    allows(keyed, text);
    refuses(keyed, "schemes = fedsgd\nepsilon = 0\ndelta = 0\nowners = 3\nno-noise = yes\n",
            DP_EPRIVACY, "its scheme");
    dp_silo_plan_free(keyed);
    plans_free(&q);
}

static void means_of_parameters_are_a_scheme_of_their_own(void **state)
{
    static const char base[] = "epsilon = 0\ndelta = 0\nowners = 3\n";
    plans q;
    char text[256];
    (void)state;
    plans_make(&q);
    q.opts.scheme = "fedavg+he";
    q.opts.epsilon = q.opts.delta = 0;
    q.opts.rounds = q.opts.draws = 0;
    q.opts.local_steps = 5;
    dp_silo_plan *means = plans_plan(&q, 0);
    (void)snprintf(text, sizeof text, "schemes = fedavg+he\n%s", base);
    refuses(means, text, DP_EPRIVACY, "no noise");
    (void)snprintf(text, sizeof text, "schemes = fedsgd+he fedavg\n%sno-noise = yes\n", base);
    refuses(means, text, DP_EPRIVACY, "its scheme");
    (void)snprintf(text, sizeof text, "schemes = fedavg+he\n%sno-noise = yes\n", base);
    refuses(means, text, DP_EPRIVACY, "no `local-steps = K`");
    const size_t n = strlen(text);
    (void)strcpy(text + n, "local-steps = 5\n");
    allows(means, text);
    (void)strcpy(text + n, "local-steps = 4\n");
    refuses(means, text, DP_EPRIVACY, "more steps by themselves");
    (void)strcpy(text + n, "local-steps = 5\nlocal-steps = 4\n"); /* all lines hold */
    refuses(means, text, DP_EPRIVACY, "more steps by themselves");
    (void)strcpy(text + n, "local-steps = yes\n");
    refuses(means, text, DP_EDATA, "a number is needed");
    allows(plan, BASE "local-steps = 0\n"); /* in other schemes owners take none */
    dp_silo_plan_free(means);
    plans_free(&q);
}

/* Three parties with columns, who link ids, and where told see each other's coefficients. */
static void three_parties_link_ids_and_may_tell(void **state)
{
    static const char base[] =
        "schemes = trio\nepsilon = 0\ndelta = 0\nowners = 3\nno-noise = yes\n";
    const dp_silo_trio terms = {.rows = 100,
                                .ids = "people",
                                .columns = {2, 1, 0},
                                .row_most = {1, 1, 0},
                                .outcome_most = 1,
                                .steps = 10,
                                .step = .5,
                                .told = true};
    plans q;
    char text[256];
    (void)state;
    plans_make(&q);
    q.opts = (dp_silo_opts){
        .name = "three", .scheme = "trio", .trio = &terms, .n_owners = 3, .owners = q.owners};
    dp_silo_plan *three = plans_plan(&q, 0);
    refuses(three, "schemes = columns\nepsilon = 0\ndelta = 0\nowners = 3\nno-noise = yes\n",
            DP_EPRIVACY, "its scheme");
    refuses(three, "schemes = trio\nepsilon = 0\ndelta = 0\nowners = 3\n", DP_EPRIVACY, "no noise");
    refuses(three, base, DP_EPRIVACY, "no `link-ids = yes`");
    (void)snprintf(text, sizeof text, "%slink-ids = yes\n", base);
    refuses(three, text, DP_EPRIVACY, "no `tell-coefficients = yes`");
    (void)snprintf(text, sizeof text, "%slink-ids = yes\ntell-coefficients = yes\n", base);
    allows(three, text);
    dp_silo_plan_free(three);
    plans_free(&q);
}

static void without_noise_it_must_be_said(void **state)
{
    static const char base[] = "schemes = fedsgd\nepsilon = 0\ndelta = 0\nowners = 3\n";
    char text[256];
    (void)state;
    refuses(open_plan, base, DP_EPRIVACY, "no noise");
    (void)snprintf(text, sizeof text, "%sno-noise = no\n", base);
    refuses(open_plan, text, DP_EPRIVACY, "no noise");
    (void)snprintf(text, sizeof text, "%sno-noise = yes\n", base);
    allows(open_plan, text);
    refuses(open_plan, BASE "no-noise = yes\n", DP_EPRIVACY, "its scheme");
}

/* A plan of columns of two owners, with noise or without. */
static dp_silo_plan *plan_of_columns(plans *q, const dp_silo_columns *c, bool noisy)
{
    plans_make(q);
    q->opts = (dp_silo_opts){.name = "columns",
                             .scheme = noisy ? "columns+dp" : "columns",
                             .columns = c,
                             .n_owners = 2,
                             .owners = q->owners,
                             .epsilon = noisy ? 4 : 0,
                             .delta = noisy ? 1e-5 : 0,
                             .most_records = 1000,
                             .seed = 11};
    return plans_plan(q, 0);
}

/* Neither that people are at both owners nor coefficients have an epsilon: each must be allowed. */
static void what_owners_of_columns_tell_must_be_said(void **state)
{
    dp_silo_columns c = {.columns = {4, 6},
                         .row_most = {1.5, 1.5},
                         .addend_most = {1.5, 1.5},
                         .steps = 20,
                         .step = 2,
                         .ids = "people"};
    (void)state;
    for (int told = 0; told < 2; told++)
        for (int noisy = 0; noisy < 2; noisy++) {
            static const char base[] = "schemes = columns columns+dp\nepsilon = 4\ndelta = 1e-5\n"
                                       "owners = 2\nno-noise = yes\n";
            plans q;
            char text[512];
            c.told = told > 0;
            dp_silo_plan *made = plan_of_columns(&q, &c, noisy > 0);
            refuses(made, base, DP_EPRIVACY, "no `link-ids = yes`");
            (void)snprintf(text, sizeof text, "%stell-coefficients = yes\n", base);
            refuses(made, text, DP_EPRIVACY, "no `link-ids = yes`");
            (void)snprintf(text, sizeof text, "%slink-ids = no\ntell-coefficients = yes\n", base);
            refuses(made, text, DP_EPRIVACY, "no `link-ids = yes`");
            (void)snprintf(text, sizeof text, "%slink-ids = yes\ntell-coefficients = yes\n", base);
            allows(made, text);
            (void)strcat(text, "tell-coefficients = no\n"); /* all lines hold */
            if (told)
                refuses(made, text, DP_EPRIVACY, "no `tell-coefficients = yes`");
            else
                allows(made, text);
            (void)snprintf(text, sizeof text, "%slink-ids = yes\n", base);
            if (told)
                refuses(made, text, DP_EPRIVACY, "no `tell-coefficients = yes`");
            else
                allows(made, text);
            (void)strcat(text, "link-ids = no\nlink-ids = yes\n");
            refuses(made, text, DP_EPRIVACY, "no `link-ids = yes`");
            dp_silo_plan_free(made);
            plans_free(&q);
        }
    allows(plan, BASE "link-ids = no\ntell-coefficients = no\n"); /* of rows it is nothing */
}

static void models_are_those_that_are_listed(void **state)
{
    char text[512], hash[65];
    (void)state;
    (void)sodium_bin2hex(hash, sizeof hash, plan->model, sizeof plan->model);
    (void)snprintf(text, sizeof text, BASE "model = %064d\n", 0);
    refuses(plan, text, DP_EPRIVACY, "its model");
    (void)snprintf(text, sizeof text, BASE "model = %064d\nmodel = %s\n", 0, hash);
    allows(plan, text);
    (void)snprintf(text, sizeof text, BASE "model = %s\nmodel = %064d\n", hash, 0);
    allows(plan, text);
    (void)snprintf(text, sizeof text, BASE "model = %.63s\n", hash);
    refuses(plan, text, DP_EDATA, "64 hexadecimal");
    (void)snprintf(text, sizeof text, BASE "model = %s0\n", hash);
    refuses(plan, text, DP_EDATA, "64 hexadecimal");
}

static void owners_are_those_that_are_listed(void **state)
{
    char text[1024];
    const char *east = p.owners[0].key, *west = p.owners[1].key, *north = p.owners[2].key;
    (void)state;
    (void)snprintf(text, sizeof text, BASE "owner = %s\nowner = %s\nowner = %s\n", west, east,
                   north);
    allows(plan, text);
    (void)snprintf(text, sizeof text, BASE "owner = %s\nowner = %s\nowner = %s\nowner = %s\n", west,
                   dp_silo_key_public(p.keys[3]), east, north);
    allows(plan, text);
    (void)snprintf(text, sizeof text, BASE "owner = %s\nowner = %s\n", west, east);
    refuses(plan, text, DP_EPRIVACY, "one of its owners");
    (void)snprintf(text, sizeof text, BASE "owner = %s\nowner = %s\nowner = %s\n", west, east,
                   east); /* one that stands twice is no other */
    refuses(plan, text, DP_EPRIVACY, "one of its owners");
    refuses(plan, BASE "owner = tacit-owner:12\n", DP_EDATA, "64 digits");
}

static void what_is_not_said_is_forbidden(void **state)
{
    static const char *const lines[] = {"schemes = secagg+dp\n", "epsilon = 4\n", "delta = 1e-5\n",
                                        "owners = 3\n"};
    static const char *const missing[] = {"`schemes`", "`epsilon`", "`delta`", "`owners`"};
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        char text[256] = "";
        for (size_t j = 0; j < 4; j++)
            if (j != k)
                (void)strcat(text, lines[j]);
        refuses(plan, text, DP_EDATA, missing[k]);
    }
    refuses(plan, "", DP_EDATA, "`schemes`");
}

static void what_is_no_policy_is_refused(void **state)
{
    static const char *const bad[] = {"epsilon = 4x",
                                      "epsilon = -1",
                                      "epsilon = nan",
                                      "epsilon = inf",
                                      "epsilon =",
                                      "epsilon 4",
                                      "epsilon",
                                      "epsilon = 1e999",
                                      "Epsilon = 4",
                                      "everything = yes",
                                      "no-noise = maybe",
                                      "link-ids = 1",
                                      "tell-coefficients =",
                                      "tell-coefficients = Yes",
                                      "schemes = trust",
                                      "schemes = secagg+dp trust",
                                      "owners = three",
                                      "model = x",
                                      "epsilon = 4 5"};
    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char text[256];
        (void)snprintf(text, sizeof text, BASE "%s\n", bad[k]);
        refuses(plan, text, DP_EDATA, "site:5: ");
    }
}

static void a_file_that_others_write_allows_nothing(void **state)
{
    char path[64];
    dp_error err = {0};
    (void)state;
    (void)snprintf(path, sizeof path, "silo-policy-%ld", (long)getpid());
    (void)unlink(path);
    assert_fails(dpi_site_policy_check(path, plan, &err), DP_EIO, &err, "cannot open");
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    (void)fputs(BASE, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0644), 0);
    assert_ok(dpi_site_policy_check(path, plan, &err), err.text);
    assert_int_equal(chmod(path, 0664), 0);
    assert_fails(dpi_site_policy_check(path, plan, &err), DP_EPRIVACY, &err, "others may write");
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_forbids_what_it_says),
        cmocka_unit_test(who_does_not_say_so_reckons_with_a_colluder),
        cmocka_unit_test(means_of_parameters_are_a_scheme_of_their_own),
        cmocka_unit_test(three_parties_link_ids_and_may_tell),
        cmocka_unit_test(without_noise_it_must_be_said),
        cmocka_unit_test(hidden_sums_without_noise_must_be_said_too),
        cmocka_unit_test(what_owners_of_columns_tell_must_be_said),
        cmocka_unit_test(models_are_those_that_are_listed),
        cmocka_unit_test(owners_are_those_that_are_listed),
        cmocka_unit_test(what_is_not_said_is_forbidden),
        cmocka_unit_test(what_is_no_policy_is_refused),
        cmocka_unit_test(a_file_that_others_write_allows_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
