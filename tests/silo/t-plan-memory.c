/* Memory that runs out: whichever allocation fails, a plan, a policy, a log and a run say so, and
 * nothing is lost. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "silo/audit.h"
#include "silo/policy.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"
#include "tests/silo/joint.h"

static joint j;
static char policy[300];
static dp_dataset *data;

static dp_status make_and_sign(dp_error *err)
{
    dp_silo_plan *plan;
    dp_status status = dp_silo_plan_new(&j.p.opts, &plan, err);
    assert_true((status == DP_OK) == (plan != NULL));
    if (status == DP_OK)
        status = dp_silo_plan_sign(plan, j.p.keys[1], err);
    dp_silo_plan_free(plan);
    return status;
}

static dp_status read_and_join(dp_error *err)
{
    dp_silo_plan *plan;
    double spent;
    const char *text = dp_silo_plan_text(j.plan);
    dp_status status = dp_silo_plan_parse(text, strlen(text), "plan", &plan, err);
    assert_true((status == DP_OK) == (plan != NULL));
    if (status == DP_OK)
        status = dp_silo_plan_join(plan, j.plan, err);
    if (status == DP_OK)
        status = dp_silo_plan_spent(plan, 1, &spent, err);
    dp_silo_plan_free(plan);
    return status;
}

static dp_status ask_policy(dp_error *err)
{
    return dpi_site_policy_check(policy, j.plan, err);
}

static dp_status write_log(dp_error *err)
{
    dpi_audit *a;
    unsigned char hash[DP_SILO_HASH];
    dp_silo_plan_hash(j.plan, hash);
    dp_status status = dpi_audit_open(joint_path("audit", 0), hash, &a, err);
    dpi_audit_close(a, status);
    return status;
}

static dp_status make_keys(dp_error *err)
{
    dp_silo_key *key;
    const char *path = joint_path("key", 0);
    (void)unlink(path);
    dp_status status = dp_silo_key_new(path, &key, err);
    dp_silo_key_free(key);
    if (status == DP_OK)
        status = dp_silo_key_load(path, &key, err);
    dp_silo_key_free(key);
    return status;
}

/* From the allocation `from` on; the first one that there is not. */
static size_t sweep(dp_status (*try)(dp_error *err), size_t from, size_t stride, size_t least)
{
    size_t failures = 0, live = faulty_live(), k = from;
    for (;; k += stride) {
        dp_error err = {0};
        faulty_fail(k);
        dp_status status = try(&err);
        int failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(faulty_live(), live);
        if (!failed) {
            assert_ok(status, err.text);
            break;
        }
        failures += status == DP_ENOMEM;
        if (status != DP_ENOMEM && status != DP_OK) /* the accountant can do without some */
            fail_msg("allocation %zu: %d, %s", k, (int)status, err.text);
    }
    assert_true(failures >= least);
    return k;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    (void)sweep(make_keys, 1, 1, 2);
    (void)sweep(make_and_sign, 1, 1, 60);
    (void)sweep(read_and_join, 1, 1, 30);
    (void)sweep(ask_policy, 1, 1, 1);
    (void)sweep(write_log, 1, 1, 1);
    dpi_audit *a;
    dp_error err = {0};
    size_t live = faulty_live();
    const unsigned char other[DP_SILO_HASH] = {0};
    assert_fails(dpi_audit_open(joint_path("audit", 0), other, &a, &err), DP_EMISMATCH, &err,
                 "another plan");
    assert_int_equal(faulty_live(), live);
}

/* A run of columns whose other owner never comes: up to there. */
static dp_status run_columns_alone(dp_error *err)
{
    static const char *const ids[] = {"a", "b"};
    static const double x[4] = {1, 2, 3, 4};
    const dp_silo_columns_data rows = {.rows = 2, .ids = ids, .x = x};
    double w[2];
    size_t common;
    dp_error found = {0};
    joint_clear();
    dp_silo_run_opts opts = joint_opts(&j, 0);
    opts.audit = joint_path("audit", 0);
    opts.patience_ms = 1;
    dp_status status = dp_silo_run_columns(j.plan, &rows, &opts, &common, w, &found);
    assert_int_equal(common, 0);
    return status == DP_ETIMEOUT ? DP_OK : dpi_fail(err, status, "%s", found.text);
}

static void plans_of_columns_end_where_memory_does(void **state)
{
    static const dp_silo_columns columns = {.logistic = true,
                                            .outcome = 1,
                                            .columns = {2, 3},
                                            .row_most = {1, 1},
                                            .addend_most = {1, 1},
                                            .steps = 5,
                                            .step = 1,
                                            .ids = "people",
                                            .held = {"age,dose", "use,urban"},
                                            .told = true};
    static const dp_fit_source source = {
        .formula = "use ~ age", .family = "bernoulli", .schema = "age real 0 .. 1\n"};
    (void)state;
    dp_silo_plan_free(j.plan);
    j.p.opts = (dp_silo_opts){.name = "columns",
                              .scheme = "columns+dp",
                              .columns = &columns,
                              .source = &source,
                              .n_owners = 2,
                              .owners = j.p.owners,
                              .epsilon = 4,
                              .delta = 1e-5};
    j.plan = plans_plan(&j.p, 3);
    (void)sweep(make_and_sign, 1, 1, 40);
    (void)sweep(read_and_join, 1, 1, 20);
    (void)sweep(run_columns_alone, 1, 1, 15);
}

/* A run of three parties, of whom nobody else comes: up to there. */
static dp_status run_three_alone(dp_error *err)
{
    static const double x[4] = {1, 2, 3, 4};
    static const dp_silo_trio_party at[DP_SILO_TRIO] = {
        {.host = "127.0.0.1", .port = "0"}, {.host = "127.0.0.1", .port = "0"}, {.host = NULL}};
    const dp_silo_trio_data rows = {.rows = 2, .x = x};
    double w[3];
    size_t n;
    dp_error found = {0};
    joint_clear();
    dp_silo_run_opts opts = joint_opts(&j, 0);
    opts.audit = joint_path("audit", 0);
    opts.patience_ms = 1;
    opts.at = at;
    dp_status status = dp_silo_run_trio(j.plan, &rows, &opts, &n, w, &found);
    assert_int_equal(n, 0);
    return status == DP_ETIMEOUT ? DP_OK : dpi_fail(err, status, "%s", found.text);
}

static void plans_of_three_parties_end_where_memory_does(void **state)
{
    static const dp_silo_trio terms = {.outcome = 1,
                                       .rows = 2,
                                       .columns = {2, 1, 0},
                                       .row_most = {1, 1, 0},
                                       .outcome_most = 1,
                                       .residual_most = 1,
                                       .steps = 5,
                                       .step = 1};
    (void)state;
    dp_silo_plan_free(j.plan);
    j.p.opts = (dp_silo_opts){.name = "three",
                              .scheme = "trio+dp",
                              .trio = &terms,
                              .n_owners = 3,
                              .owners = j.p.owners,
                              .epsilon = 4,
                              .delta = 1e-5};
    j.plan = plans_plan(&j.p, 7);
    (void)sweep(make_and_sign, 1, 1, 30);
    (void)sweep(read_and_join, 1, 1, 15);
    (void)sweep(run_three_alone, 1, 1, 8);
}

/* An owner alone, whose sums nobody else adds to. */
static dp_status run_alone(dp_error *err)
{
    dp_fit *fit;
    joint_clear();
    dp_silo_run_opts opts = joint_opts(&j, 0);
    opts.audit = joint_path("audit", 0);
    dp_status status = dp_silo_run(j.plan, j.p.model, data, &opts, &fit, err);
    assert_true((status == DP_OK) == (fit != NULL));
    dp_fit_free(fit);
    return status;
}

static void a_run_ends_where_memory_does(void **state)
{
    (void)state;
    dp_silo_plan_free(j.plan);
    j.p.opts.n_owners = 1;
    j.plan = plans_plan(&j.p, 1);
    data = plans_data(&j.p, 0);
    size_t end = sweep(run_alone, 1, 5, 100);
    (void)sweep(run_alone, end - 60, 1, 1); /* runs differ by some, as their noise does */
    dp_dataset_free(data);
}

static int set_up(void **state)
{
    (void)state;
    plans_make(&j.p);
    joint_begin(&j);
    (void)snprintf(policy, sizeof policy, "%s", joint_path("policy", 0));
    FILE *f = fopen(policy, "wb");
    assert_non_null(f);
    (void)fputs("schemes = secagg+dp\nepsilon = 4\ndelta = 1\nowners = 1\n", f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(policy, 0600), 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    joint_end(&j);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_allocation_may_fail, set_up, tear_down),
        cmocka_unit_test_setup_teardown(plans_of_columns_end_where_memory_does, set_up, tear_down),
        cmocka_unit_test_setup_teardown(plans_of_three_parties_end_where_memory_does, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_run_ends_where_memory_does, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
