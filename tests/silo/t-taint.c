/* What really comes to an owner: every letter of a run, opened, is searched for the words of other
 * owners, and for sums of some owners' words.  What is found is what the check has listed, and all
 * that it has listed is found. */
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "silo/check.h"
#include "silo/joint.h"
#include "silo/print.h"
#include "silo/split.h"
#include "tests/lib/check.h"
#include "tests/silo/owners.h"

enum { OWNERS = 3, NUMBERS = 40, SETS = 1 << OWNERS, LETTERS = 256, ROOM = 1 << 20 };

typedef struct letter_seen {
    size_t reader, n;
    char name[DPI_SILO_NAME];
    const unsigned char *body; /* [n] in `room` */
} letter_seen;

static owners all;
static uint64_t tagged[OWNERS][NUMBERS];
static letter_seen letters[LETTERS];
static size_t n_letters, n_room;
static unsigned char room[ROOM];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local size_t self;

dp_status __real_dpi_post_receive(dpi_post *post, size_t from, uint64_t round, uint32_t attempt,
                                  const char *name, uint32_t wait_ms, size_t n, unsigned char *body,
                                  dp_error *err);
dp_status __wrap_dpi_post_receive(dpi_post *post, size_t from, uint64_t round, uint32_t attempt,
                                  const char *name, uint32_t wait_ms, size_t n, unsigned char *body,
                                  dp_error *err);

dp_status __wrap_dpi_post_receive(dpi_post *post, size_t from, uint64_t round, uint32_t attempt,
                                  const char *name, uint32_t wait_ms, size_t n, unsigned char *body,
                                  dp_error *err)
{
    dp_status status =
        __real_dpi_post_receive(post, from, round, attempt, name, wait_ms, n, body, err);
    (void)pthread_mutex_lock(&lock);
    if (status == DP_OK && n_letters < LETTERS && n_room + n <= ROOM) {
        letter_seen *l = &letters[n_letters];
        l->reader = self;
        l->n = n;
        (void)snprintf(l->name, sizeof l->name, "%s", name);
        l->body = memcpy(room + n_room, body, n);
    }
    n_room += n;
    n_letters++;
    (void)pthread_mutex_unlock(&lock);
    return status;
}

static void *act(void *of)
{
    const size_t k = *(const size_t *)of;
    dpi_carrier *carrier = NULL;
    dpi_silo_round *r = NULL;
    dp_error err = {0};
    uint64_t values[NUMBERS];
    self = k;
    memcpy(values, tagged[k], sizeof values);
    dp_status status = dpi_carrier_memory(all.box, &carrier, &err);
    const dpi_silo_round_opts opts = {.part = &all.parts[k],
                                      .post = owners_post(&all, k, carrier, 10000),
                                      .rounds = 1,
                                      .most = NUMBERS};
    if (status == DP_OK)
        status = dpi_silo_round_new(&opts, &r, &err);
    if (status == DP_OK)
        status = dpi_silo_round_open(r, (const unsigned char[32]){3}, NUMBERS, values, &err);
    dpi_silo_round_free(r);
    if (carrier != NULL)
        carrier->kind->close(carrier);
    return status == DP_OK ? NULL : all.names[k];
}

static void run(void)
{
    pthread_t thread[OWNERS];
    size_t who[OWNERS];
    void *failed;
    n_letters = n_room = 0;
    for (size_t k = 0; k < OWNERS; k++) {
        who[k] = k;
        assert_int_equal(pthread_create(&thread[k], NULL, act, &who[k]), 0);
    }
    for (size_t k = 0; k < OWNERS; k++) {
        assert_int_equal(pthread_join(thread[k], &failed), 0);
        assert_null(failed);
    }
    assert_true(n_letters <= LETTERS && n_room <= ROOM);
}

/* Whether a letter has, at any byte, a word that these owners' numbers add up to. */
static bool has_sum_of(const letter_seen *l, unsigned set)
{
    for (size_t j = 0; j < NUMBERS; j++) {
        uint64_t sum = 0, word;
        for (size_t k = 0; k < OWNERS; k++)
            sum += (set >> k & 1) != 0 ? tagged[k][j] : 0;
        for (size_t at = 0; at + sizeof word <= l->n; at++) {
            memcpy(&word, l->body + at, sizeof word);
            if (word == sum)
                return true;
        }
    }
    return false;
}

/* Whether a reader's letters of that name have anything of others. */
static bool is_tainted(size_t reader, const char *name)
{
    for (size_t t = 0; t < n_letters; t++)
        for (unsigned set = 1; set < SETS; set++)
            if (letters[t].reader == reader && strcmp(letters[t].name, name) == 0 &&
                (set & ~(1u << reader)) != 0 && has_sum_of(&letters[t], set))
                return true;
    return false;
}

/* What the check lists, less what the aggregator opens itself, which comes in no letter. */
static void find_views(const char *scheme, size_t *n, dpi_silo_view **views, dpi_arena *arena)
{
    static const dp_opening both[] = {{"main", 1, 1, 1, false}, {"own", 1, 1, 1, true}};
    dpi_silo_parties who = {.n = OWNERS, .most_records = 1};
    dpi_silo_program p;
    dp_error err = {0};
    const dpi_silo_scheme *s = dpi_silo_scheme_named(scheme);
    memcpy(who.names, all.names, sizeof all.names);
    assert_ok(dpi_silo_joint(&p, &who, dpi_silo_joint_kind(s), 1e-5, 1 + (s->noisy && s->averages),
                             both, &err),
              err.text);
    assert_ok(dpi_silo_check(&p, s, all.parts, arena, n, views, &err), err.text);
}

static void what_is_found_is_what_is_listed(const char *scheme)
{
    dpi_arena arena = {NULL};
    dpi_silo_view *views;
    size_t n;
    find_views(scheme, &n, &views, &arena);
    for (size_t t = 0; t < n_letters; t++) {
        bool listed = false;
        for (size_t v = 0; v < n; v++)
            listed = listed || (views[v].party == letters[t].reader &&
                                strcmp(views[v].name, letters[t].name) == 0);
        if (is_tainted(letters[t].reader, letters[t].name) && !listed)
            fail_msg("%s has words of others in %s", all.names[letters[t].reader], letters[t].name);
    }
    for (size_t v = 0; v < n; v++)
        if (views[v].party != 0 || strcmp(views[v].name, "h.s") != 0)
            assert_true(is_tainted(views[v].party, views[v].name));
    dpi_arena_free(&arena);
}

static void set_up(void)
{
    owners_make(&all, OWNERS);
    for (size_t k = 0; k < OWNERS; k++)
        for (size_t j = 0; j < NUMBERS; j++)
            tagged[k][j] = (0xa1 + 16 * k) << 56 | (j + 1) * 0x10305070b0d11 % ((uint64_t)1 << 52);
}

static void letters_of_a_secure_sum_have_the_sum_alone(void **state)
{
    (void)state;
    set_up();
    owners_mask(&all, false);
    run();
    what_is_found_is_what_is_listed("secagg+dp");
    owners_free(&all);
}

static void letters_of_factors_have_the_sum_alone(void **state)
{
    (void)state;
    set_up();
    owners_split(&all, "dp-pvi", 0);
    run();
    what_is_found_is_what_is_listed("dp-pvi");
    assert_false(is_tainted(0, "h.m"));
    owners_free(&all);
}

static void letters_of_a_sum_under_a_key_have_the_sum_alone(void **state)
{
    (void)state;
    static const char *const schemes[] = {"fedsgd+he", "fedavg+he"};
    for (int k = 0; k < 2; k++) {
        set_up();
        owners_split(&all, schemes[k], 0);
        run();
        what_is_found_is_what_is_listed(schemes[k]);
        owners_free(&all);
    }
}

static void letters_of_a_plain_sum_have_what_clauses_name(void **state)
{
    (void)state;
    static const char *const schemes[] = {"fedsgd", "fedavg"};
    for (int k = 0; k < 2; k++) {
        set_up();
        owners_split(&all, schemes[k], 0);
        run();
        what_is_found_is_what_is_listed(schemes[k]);
        assert_true(is_tainted(0, "h.m"));
        owners_free(&all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_of_a_secure_sum_have_the_sum_alone),
        cmocka_unit_test(letters_of_factors_have_the_sum_alone),
        cmocka_unit_test(letters_of_a_sum_under_a_key_have_the_sum_alone),
        cmocka_unit_test(letters_of_a_plain_sum_have_what_clauses_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
