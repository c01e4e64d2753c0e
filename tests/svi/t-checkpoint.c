/* The form of a checkpoint: damage is told. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "svi/checkpoint.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"
#include "tests/svi/bench.h"

static void every_changed_byte_is_told(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_arena arena = {NULL};
    dpi_checkpoint c;
    unsigned char bytes[1000];
    bench b = set_up(&plain, 0);
    dp_svi *svi = start(&b);
    save(svi, "run");
    FILE *file = fopen(folder_path("run"), "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    assert_ok(dpi_checkpoint_parse(bytes, n, &arena, &c, &err), err.text);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(dpi_checkpoint_parse(bytes, i, &arena, &c, NULL), DP_EDATA);
        bytes[i] ^= 1;
        assert_int_equal(dpi_checkpoint_parse(bytes, n, &arena, &c, NULL), DP_EDATA);
        bytes[i] ^= 1;
    }
    dpi_arena_free(&arena);
    dp_svi_free(svi);
    tear_down(&b);
}

/* With its hash put right, a checkpoint whose loss or share does not go with its options and
 * steps. */
static void losses_that_cannot_be_are_damage(void **state)
{
    (void)state;
    const struct {
        uint64_t step;
        double loss, below;
        dp_status status;
    } cases[] = {
        {6, 1, 0.5, DP_OK},    {6, -1e9, 0, DP_OK},     {6, 1, 1, DP_OK},
        {3, 1, 0.5, DP_EDATA}, {0, NAN, 0.5, DP_EDATA}, {7, 1, 0.5, DP_EDATA},
        {9, 1, 0.5, DP_EDATA}, {6, NAN, 0.5, DP_EDATA}, {6, INFINITY, 0.5, DP_EDATA},
        {6, 1, NAN, DP_EDATA}, {6, 1, -0.1, DP_EDATA},  {6, 1, 1.1, DP_EDATA},
    };
    const dp_svi_opts o = with_extras(DP_DOUBLE);
    bench b = set_up(&o, 0);
    dp_svi *svi = start(&b);
    walk(svi, 7);
    save(svi, "run");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dp_error err = {0};
        dpi_arena arena = {NULL};
        dpi_checkpoint c, again;
        unsigned char *bytes;
        size_t n;
        assert_ok(dpi_checkpoint_read(folder_path("run"), &arena, &c, &err), err.text);
        c.loss_step = cases[i].step;
        c.loss = cases[i].loss;
        c.below = cases[i].below;
        assert_ok(dpi_checkpoint_write(&c, &bytes, &n, &err), err.text);
        assert_int_equal(dpi_checkpoint_parse(bytes, n, &arena, &again, &err), cases[i].status);
        dpi_free(bytes);
        dpi_arena_free(&arena);
    }
    dp_svi_free(svi);
    tear_down(&b);
}

/* Else the fuzzer would see refusals only. */
static void the_fuzzers_corpus_is_of_this_version(void **state)
{
    (void)state;
    static const char *const names[] = {"two-parameters", "loss-and-clip-norm"};
    const char *root = getenv("top_srcdir");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        dp_error err = {0};
        dpi_arena arena = {NULL};
        dpi_checkpoint c;
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/fuzz/corpus/checkpoint/%s", root ? root : "..",
                       names[i]);
        assert_ok(dpi_checkpoint_read(path, &arena, &c, &err), err.text);
        assert_int_equal(c.loss_step, 6 * i);
        dpi_arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_changed_byte_is_told),
        cmocka_unit_test(losses_that_cannot_be_are_damage),
        cmocka_unit_test(the_fuzzers_corpus_is_of_this_version),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, folder_make, folder_remove);
}
