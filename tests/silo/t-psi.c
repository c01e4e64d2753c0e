/* Common ids of two owners: those of sorting and merging, in one order at both. */
#include "silo/psi.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/silo/owners.h"

enum { MOST = 10000, TEXT = 24 };

typedef struct side {
    size_t n, count, common, padded, most;
    char (*ids)[TEXT];
    const char **at;
    size_t *rows;
    dpi_psi *psi;
    unsigned char print[32];
    owners *all;
    dp_status status;
    dp_error err;
} side;

static side sides[2];

static void make_side(side *s, size_t n)
{
    *s = (side){.n = n, .ids = calloc(n + 1, TEXT), .at = calloc(n + 1, sizeof *s->at)};
    s->rows = calloc(n + 1, sizeof *s->rows);
    assert_non_null(s->ids);
    assert_non_null(s->at);
    assert_non_null(s->rows);
    for (size_t i = 0; i < n; i++)
        s->at[i] = s->ids[i];
}

static void free_side(side *s)
{
    dpi_psi_free(s->psi);
    free(s->ids);
    free(s->at);
    free(s->rows);
}

/* Ids of [0, range), none twice at one side: each a permutation's beginning. */
static void draw(uint64_t seed, size_t n, size_t range, side *s)
{
    make_side(s, n);
    size_t *all = calloc(range + 1, sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < range; i++)
        all[i] = i;
    for (size_t i = 0; i < n; i++) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        const size_t k = i + (size_t)(seed >> 33) % (range - i), kept = all[k];
        all[k] = all[i];
        all[i] = kept;
        (void)snprintf(s->ids[i], TEXT, "%s%zu%s", seed >> 20 & 1 ? " Id" : "iD", kept,
                       seed >> 21 & 1 ? "\t" : "");
    }
    free(all);
}

static const dpi_psi_opts plain = {.domain = "patients", .key = {7}, .threads = 2};

static void swap_lists(void)
{
    size_t count[2];
    unsigned char *tokens[2];
    for (int k = 0; k < 2; k++) {
        const unsigned char *points = dpi_psi_points(sides[!k].psi, &count[!k]);
        tokens[!k] = calloc(count[!k] + 1, DPI_PSI_POINT);
        assert_non_null(tokens[!k]);
        assert_int_equal(dpi_psi_raise(sides[k].psi, count[!k], points, tokens[!k], NULL), DP_OK);
    }
    for (int k = 0; k < 2; k++) {
        side *s = &sides[k];
        assert_int_equal(dpi_psi_match(s->psi, tokens[k], &s->common, s->rows, s->print, NULL),
                         DP_OK);
        free(tokens[k]);
    }
}

/* The number in an id. */
static size_t number(const side *s, size_t row)
{
    const char *digit = strpbrk(s->ids[row], "0123456789");
    return (size_t)strtoul(digit, NULL, 10);
}

static int ascending(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static size_t *sorted_numbers(const side *s, size_t n, const size_t *rows)
{
    size_t *all = calloc(n + 1, sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < n; i++)
        all[i] = number(s, rows == NULL ? i : rows[i]);
    qsort(all, n, sizeof *all, ascending);
    return all;
}

/* Both sides have the intersection by sorting and merging, each id once, and row by row the same
 * id. */
static void check_common(void)
{
    size_t *a = sorted_numbers(&sides[0], sides[0].n, NULL), common = 0;
    size_t *b = sorted_numbers(&sides[1], sides[1].n, NULL);
    size_t *got = sorted_numbers(&sides[0], sides[0].common, sides[0].rows);
    for (size_t i = 0, k = 0; i < sides[0].n && k < sides[1].n;) {
        if (a[i] == b[k]) {
            assert_true(common < sides[0].common);
            assert_int_equal(got[common++], a[i]);
        }
        const size_t x = a[i], y = b[k];
        i += x <= y;
        k += y <= x;
    }
    assert_int_equal(sides[0].common, common);
    assert_int_equal(sides[1].common, common);
    assert_memory_equal(sides[0].print, sides[1].print, 32);
    for (size_t i = 0; i < common; i++)
        assert_int_equal(number(&sides[0], sides[0].rows[i]), number(&sides[1], sides[1].rows[i]));
    free(a);
    free(b);
    free(got);
}

static void common_ids_are_those_of_a_merge(void **state)
{
    (void)state;
    static const size_t cases[][3] = {{0, 0, 1},        {0, 5, 9},          {1, 1, 1},
                                      {40, 30, 1000},   {70, 90, 100},      {500, 500, 500},
                                      {1000, 17, 2000}, {MOST, 3000, 15000}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (int k = 0; k < 2; k++) {
            dpi_psi_opts o = plain;
            draw(2 * c + (size_t)k + 1, cases[c][k], cases[c][2], &sides[k]);
            o.padded = c % 2 == 1 ? cases[c][k] + 3 : 0;
            assert_int_equal(dpi_psi_new(&o, sides[k].n, sides[k].at, &sides[k].psi, NULL), DP_OK);
            size_t count;
            (void)dpi_psi_points(sides[k].psi, &count);
            assert_int_equal(count, c % 2 == 1 ? cases[c][k] + 3 : cases[c][k]);
        }
        swap_lists();
        check_common();
        free_side(&sides[0]);
        free_side(&sides[1]);
    }
}

static void ids_that_repeat_or_are_empty_are_refused_and_not_told(void **state)
{
    (void)state;
    const char *twice[] = {"secret-17", "b", " SECRET-17\n"}, *empty[] = {"a", " \t"};
    dpi_psi *psi = NULL;
    dp_error err = {0};
    dp_status status = dpi_psi_new(&plain, 3, twice, &psi, &err);
    assert_null(psi);
    assert_null(strstr(err.text, "17"));
    assert_fails(status, DP_EDATA, &err, "are the same");
    status = dpi_psi_new(&plain, 2, empty, &psi, &err);
    assert_fails(status, DP_EDATA, &err, "an id is empty");
    dpi_psi_opts o = plain;
    o.padded = 2;
    status = dpi_psi_new(&o, 3, twice, &psi, &err);
    assert_fails(status, DP_EINVAL, &err, "no fewer");
}

static void other_keys_and_domains_have_nothing_in_common(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        dpi_psi_opts other = plain;
        if (which == 0)
            other.key[31] = 1;
        else
            other.domain = "patients of another list";
        for (int k = 0; k < 2; k++) {
            draw(3, 20, 20, &sides[k]);
            assert_int_equal(
                dpi_psi_new(k == 0 ? &plain : &other, 20, sides[k].at, &sides[k].psi, NULL), DP_OK);
        }
        swap_lists();
        assert_int_equal(sides[0].common, 0);
        assert_int_equal(sides[1].common, 0);
        free_side(&sides[0]);
        free_side(&sides[1]);
    }
}

/* Same ids, two runs: no point comes again. */
static void exponents_are_drawn_anew(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        draw(3, 20, 20, &sides[k]);
        assert_int_equal(dpi_psi_new(&plain, 20, sides[k].at, &sides[k].psi, NULL), DP_OK);
    }
    size_t n;
    const unsigned char *a = dpi_psi_points(sides[0].psi, &n),
                        *b = dpi_psi_points(sides[1].psi, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            assert_memory_not_equal(a + i * DPI_PSI_POINT, b + j * DPI_PSI_POINT, DPI_PSI_POINT);
    free_side(&sides[0]);
    free_side(&sides[1]);
}

static void points_that_are_none_are_refused(void **state)
{
    (void)state;
    unsigned char points[3][DPI_PSI_POINT], tokens[3][DPI_PSI_POINT];
    const char *ids[] = {"a", "b", "c"};
    dpi_psi *psi = NULL;
    dp_error err = {0};
    assert_int_equal(dpi_psi_new(&plain, 3, ids, &psi, NULL), DP_OK);
    size_t n;
    memcpy(points, dpi_psi_points(psi, &n), sizeof points);
    unsigned char(*bad)[DPI_PSI_POINT] = calloc(3, DPI_PSI_POINT);
    assert_non_null(bad);
    /* The identity, which is first in order. */
    memcpy(bad[1], points[1], 2 * (size_t)DPI_PSI_POINT);
    dp_status status = dpi_psi_raise(psi, 3, bad[0], tokens[0], &err);
    assert_fails(status, DP_EPEER, &err, "no point of the group, or its identity");
    /* Bytes beyond the field's prime, last in order. */
    memcpy(bad, points, sizeof points);
    memset(bad[2], 255, DPI_PSI_POINT);
    status = dpi_psi_raise(psi, 3, bad[0], tokens[0], &err);
    assert_fails(status, DP_EPEER, &err, "no point of the group");
    memcpy(bad[2], points[1], DPI_PSI_POINT);
    status = dpi_psi_raise(psi, 3, bad[0], tokens[0], &err);
    assert_fails(status, DP_EPEER, &err, "out of order");
    size_t common, rows[3];
    unsigned char print[32];
    status = dpi_psi_match(psi, tokens[0], &common, rows, print, &err);
    assert_fails(status, DP_ESTATE, &err, "raised before");
    assert_int_equal(dpi_psi_raise(psi, 3, points[0], tokens[0], NULL), DP_OK);
    status = dpi_psi_raise(psi, 3, points[0], tokens[0], &err);
    assert_fails(status, DP_ESTATE, &err, "one list");
    memcpy(tokens[0], tokens[1], DPI_PSI_POINT);
    status = dpi_psi_match(psi, tokens[0], &common, rows, print, &err);
    assert_fails(status, DP_EPEER, &err, "came back for two");
    assert_int_equal(common, 0);
    free(bad);
    dpi_psi_free(psi);
}

static void *link_side(void *of)
{
    side *s = of;
    const size_t k = (size_t)(s - sides);
    dpi_carrier *carrier = NULL;
    dpi_post *post = NULL;
    unsigned char secret[32] = {0};
    s->status = dpi_carrier_memory(s->all->box, &carrier, &s->err);
    const dpi_post_opts opts = owners_post(s->all, k, carrier, 20000);
    /* Keys that are not the same, and are not to be read. */
    const dpi_psi_opts psi = {.domain = "patients",
                              .key = {(unsigned char)(k + 1)},
                              .padded = s->padded,
                              .most = s->most};
    if (s->status == DP_OK)
        s->status = dpi_post_open(&opts, secret, &post, &s->err);
    if (s->status == DP_OK)
        s->status = dpi_psi_link(post, !k, 0, 0, &psi, s->n, s->at, &s->common, s->rows, &s->err);
    dpi_post_close(post);
    if (carrier != NULL)
        carrier->kind->close(carrier);
    return NULL;
}

static void two_owners_link_by_letters(void **state)
{
    (void)state;
    static const size_t cases[][2] = {{200, 300}, {0, 10}, {0, 0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        static owners all;
        owners_make(&all, 2);
        pthread_t threads[2];
        for (int k = 0; k < 2; k++) {
            draw(c + 40 + (size_t)k, cases[c][k], 400, &sides[k]);
            sides[k].all = &all;
            sides[k].padded = k == 0 && c == 0 ? 256 : 0;
            assert_int_equal(pthread_create(&threads[k], NULL, link_side, &sides[k]), 0);
        }
        for (int k = 0; k < 2; k++)
            (void)pthread_join(threads[k], NULL);
        for (int k = 0; k < 2; k++)
            assert_ok(sides[k].status, sides[k].err.text);
        check_common();
        owners_free(&all);
        free_side(&sides[0]);
        free_side(&sides[1]);
    }
}

/* Both refuse the other's list before a point of it is raised. */
static void more_ids_than_agreed_upon_are_not_answered(void **state)
{
    static owners all;
    pthread_t threads[2];
    (void)state;
    owners_make(&all, 2);
    for (int k = 0; k < 2; k++) {
        draw(50 + (size_t)k, k == 0 ? 200 : 300, 400, &sides[k]);
        sides[k].all = &all;
        sides[k].padded = 0;
        sides[k].most = k == 0 ? 299 : 199;
        assert_int_equal(pthread_create(&threads[k], NULL, link_side, &sides[k]), 0);
    }
    for (int k = 0; k < 2; k++)
        (void)pthread_join(threads[k], NULL);
    assert_fails(sides[0].status, DP_EPEER, &sides[0].err, "300 ids, where 299 were agreed upon");
    assert_fails(sides[1].status, DP_EPEER, &sides[1].err, "200 ids, where 199 were agreed upon");
    owners_free(&all);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(sides[k].common, 0);
        sides[k].most = 0;
        free_side(&sides[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_ids_are_those_of_a_merge),
        cmocka_unit_test(ids_that_repeat_or_are_empty_are_refused_and_not_told),
        cmocka_unit_test(other_keys_and_domains_have_nothing_in_common),
        cmocka_unit_test(exponents_are_drawn_anew),
        cmocka_unit_test(points_that_are_none_are_refused),
        cmocka_unit_test(two_owners_link_by_letters),
        cmocka_unit_test(more_ids_than_agreed_upon_are_not_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
