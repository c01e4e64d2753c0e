/* Which rows a regression by three parties goes over: of one table, or of people that owners have
 * in common. */
#include <tacit/silo-trio.h>

#include <stdio.h>
#include <string.h>

#include "tests/silo/trio-town.h"

/* ---- owners of rows ---- */

/* The second party helps; the others have a quarter and the rest of the first owner's rows. */
static void set_up_rows(double epsilon)
{
    town_set_up(epsilon);
    for (size_t k = 0; k < 3; k++) {
        dp_silo_trio *t = &town_sides[k].terms;
        const size_t from = k == 2 ? TOWN_N / 4 : 0;
        t->outcome = 0;
        for (size_t j = 0; j < 3; j++) {
            t->rows_of[j] = j == 0 ? TOWN_N / 4 : j == 2 ? TOWN_N - TOWN_N / 4 : 0;
            t->columns[j] = j == 1 ? 0 : TOWN_D0;
            t->row_most[j] = j == 1 ? 0 : 1;
        }
        town_sides[k].data = (dp_silo_trio_data){.rows = t->rows_of[k],
                                                 .x = k == 1 ? NULL : town_x[0] + from * TOWN_D0,
                                                 .y = k == 1 ? NULL : town_y + from};
    }
}

static void rows_of_two_owners_are_one_table(void **state)
{
    (void)state;
    set_up_rows(0);
    town_run_well();
    double w[TOWN_D0] = {0};
    for (int k = 0; k < 20; k++) {
        double g[TOWN_D0] = {0};
        for (size_t i = 0; i < TOWN_N; i++) {
            double r = -town_y[i];
            for (size_t j = 0; j < TOWN_D0; j++)
                r += w[j] * town_x[0][i * TOWN_D0 + j];
            for (size_t j = 0; j < TOWN_D0; j++)
                g[j] += r * town_x[0][i * TOWN_D0 + j];
        }
        for (size_t j = 0; j < TOWN_D0; j++)
            w[j] -= .5 * (g[j] / TOWN_N + .01 * w[j]);
    }
    for (size_t k = 0; k < 3; k++)
        for (size_t j = 0; j < TOWN_D0; j++)
            assert_close(town_sides[k].w[j], k == 1 ? 0 : w[j], 1e-6, 1e-7);
    set_up_rows(4);
    town_run_well();
    for (size_t k = 1; k < 3; k++)
        assert_memory_equal(town_sides[k].w, town_sides[0].w, TOWN_D0 * sizeof *w);
    set_up_rows(0);
    town_sides[0].data.rows = TOWN_N;
    town_act(&town_sides[0]);
    assert_fails(town_sides[0].status, DP_EINVAL, &town_sides[0].err, "the terms have 50");
    set_up_rows(0);
    town_sides[0].terms.ids = "people";
    town_act(&town_sides[0]);
    assert_fails(town_sides[0].status, DP_EINVAL, &town_sides[0].err, "ids are of columns");
}

/* ---- ids ---- */

static char names[TOWN_N + 40][16];
static const char *ids[2][TOWN_N];

/* The first owner has rows 0 ... TOWN_N - 1 of the table; the second lacks the last `lacking`, has
 * as many others, and all in another order, its x and y with them. */
static void set_up_ids(double epsilon, size_t lacking)
{
    static double other_x[TOWN_N * TOWN_D1], other_y[TOWN_N];
    town_set_up(epsilon);
    for (size_t i = 0; i < TOWN_N + lacking; i++)
        (void)snprintf(names[i], sizeof names[i], i % 2 == 0 ? "T%03zu" : " t%03zu", i);
    for (size_t i = 0; i < TOWN_N; i++) {
        const size_t at = i * 73 % TOWN_N, of = at < lacking ? TOWN_N + at : at - lacking;
        ids[0][i] = names[i];
        ids[1][i] = names[of];
        other_y[i] = of < TOWN_N ? town_y[of] : 1;
        for (size_t j = 0; j < TOWN_D1; j++)
            other_x[i * TOWN_D1 + j] = of < TOWN_N ? town_x[1][of * TOWN_D1 + j] : .3;
    }
    for (size_t k = 0; k < 3; k++) {
        town_sides[k].terms.ids = "people";
        town_sides[k].terms.told = epsilon == 0;
        town_sides[k].data.ids = k < 2 ? ids[k] : NULL;
    }
    town_sides[1].data.x = other_x;
    town_sides[1].data.y = other_y;
}

static void owners_link_their_rows_by_ids(void **state)
{
    enum { LACKING = 40 };
    double w[TOWN_D];
    (void)state;
    set_up_ids(0, LACKING);
    for (size_t k = 0; k < 3; k++)
        town_sides[k].terms.rows = TOWN_N + 10; /* the most */
    town_run_well();
    town_solve(TOWN_N - LACKING, w);
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(town_sides[k].rows, TOWN_N - LACKING);
        for (size_t j = 0; j < TOWN_D; j++)
            assert_close(town_sides[k].w[j], w[j], 1e-6, 1e-7);
    }
    set_up_ids(4, LACKING);
    town_run_well();
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(town_sides[k].rows, TOWN_N - LACKING);
        assert_memory_equal(town_sides[k].w, town_sides[0].w, sizeof w);
    }
}

static void who_has_nobody_in_common_ends(void **state)
{
    (void)state;
    set_up_ids(0, 10);
    for (size_t i = 0; i < TOWN_N; i++)
        ids[1][i] = i % 2 == 0 ? "nobody" : "none";
    town_act(&town_sides[1]);
    assert_fails(town_sides[1].status, DP_EDATA, &town_sides[1].err, "id");
    set_up_ids(0, 10);
    town_sides[1].data.rows = 1;
    ids[1][0] = "nobody";
    town_run();
    for (int k = 0; k < 3; k++) {
        assert_fails(town_sides[k].status, DP_EDATA, &town_sides[k].err, "no id in common");
        town_assert_nothing(&town_sides[k]);
    }
}

/* Outcomes at the third party. */
static void set_up_three(int k)
{
    set_up_ids(0, 0);
    for (size_t j = 0; j < 3; j++)
        town_sides[j].terms.outcome = 2;
    town_sides[1].data = (dp_silo_trio_data){.rows = TOWN_N, .ids = ids[0], .x = town_x[1]};
    town_sides[2].data = (dp_silo_trio_data){.rows = TOWN_N, .ids = ids[k], .y = town_y};
}

static void three_owners_have_the_same_ids_in_the_same_order(void **state)
{
    double w[TOWN_D];
    (void)state;
    town_solve(TOWN_N, w);
    set_up_three(0);
    town_run_well();
    for (size_t k = 0; k < 3; k++)
        for (size_t j = 0; j < TOWN_D; j++)
            assert_close(town_sides[k].w[j], w[j], 1e-6, 1e-7);
    set_up_three(1); /* in another order */
    town_run();
    size_t told = 0;
    for (size_t k = 0; k < 3; k++) {
        assert_true(town_sides[k].status == DP_EDATA || town_sides[k].status == DP_EPEER);
        told += town_sides[k].status == DP_EDATA;
        town_assert_nothing(&town_sides[k]);
    }
    assert_true(told > 0);
    set_up_three(0);
    town_sides[2].data.rows--;
    town_run();
    for (size_t k = 0; k < 3; k++)
        town_assert_nothing(&town_sides[k]);
}

static void ids_are_of_those_who_have_records(void **state)
{
    (void)state;
    set_up_ids(0, 10);
    town_sides[0].terms.outcome = 0;
    town_sides[0].terms.columns[1] = 0;
    town_sides[0].terms.row_most[1] = 0;
    assert_int_equal(dp_silo_trio_check(&town_sides[0].terms, NULL), DP_EINVAL);
    set_up_ids(0, 10);
    town_sides[0].data.ids = NULL;
    town_act(&town_sides[0]);
    assert_fails(town_sides[0].status, DP_EINVAL, &town_sides[0].err, "ids needed");
    set_up_ids(0, 10);
    town_sides[2].data.rows = 1;
    town_act(&town_sides[2]);
    assert_fails(town_sides[2].status, DP_EINVAL, &town_sides[2].err, "no columns and no outcomes");
    set_up_ids(0, 10);
    town_sides[0].data.rows = TOWN_N + 1;
    town_act(&town_sides[0]);
    assert_fails(town_sides[0].status, DP_EINVAL, &town_sides[0].err, "at most");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_two_owners_are_one_table),
        cmocka_unit_test(owners_link_their_rows_by_ids),
        cmocka_unit_test(who_has_nobody_in_common_ends),
        cmocka_unit_test(three_owners_have_the_same_ids_in_the_same_order),
        cmocka_unit_test(ids_are_of_those_who_have_records),
    };
    return cmocka_run_group_tests(tests, town_make, town_clear);
}
