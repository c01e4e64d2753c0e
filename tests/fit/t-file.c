/* Files of fits: they come back in another process, to the bit; paths, and files that change
 * meanwhile.
 *   t-file corpus FOLDER   writes the fuzzer's corpus anew */
#define _XOPEN_SOURCE 700
#include "fit/file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fit/answers.h"
#include "tests/fit/fits.h"
#include "tests/fit/mutate.h"
#include "tests/fit/small.h"
#include "tests/graph/faulty.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

enum { RANDOM_MODELS = 200 };

/* ---- coming back ---- */

static void loaded_elsewhere_fits_answer_to_the_bit(void **state)
{
    (void)state;
    static uint64_t expected[N_NAMED_FITS + RANDOM_MODELS];
    char name[24], command[1200], line[64];
    size_t count = 0;
    dp_error err = {0};
    for (uint64_t k = 0; count < N_NAMED_FITS + RANDOM_MODELS; k++) {
        dp_fit *fit = k < N_NAMED_FITS ? named_fit((int)k, count) : random_fit(k, count);
        random_records r;
        if (fit == NULL)
            continue;
        (void)snprintf(name, sizeof name, "fit-%zu", count);
        assert_ok(dp_fit_save(fit, folder_path(name), &err), err.text);
        random_records_new(&r, count);
        expected[count++] = answers_of(fit, r.data);
        random_records_free(&r);
        dp_fit_free(fit);
        assert_true(k < 2 * RANDOM_MODELS);
    }
    const char *build = getenv("top_builddir");
    (void)snprintf(command, sizeof command, "%s/tests/fit/answer-files %s %zu",
                   build != NULL ? build : ".", folder_path("."), count);
    FILE *answers = popen(command, "r");
    assert_non_null(answers);
    for (size_t k = 0; k < count; k++) {
        assert_non_null(fgets(line, sizeof line, answers));
        if (strtoull(line, NULL, 16) != expected[k])
            fail_msg("fit %zu answers otherwise in another process", k);
    }
    assert_int_equal(pclose(answers), 0);
}

static void storing_what_was_loaded_gives_the_same_bytes(void **state)
{
    (void)state;
    dp_error err = {0};
    for (int k = 0; k < N_NAMED_FITS; k++) {
        dp_fit *fit = named_fit(k, 3), *again;
        dpi_bytes bytes = fit_bytes(fit);
        assert_int_equal(bytes.n % 8, 0);
        assert_true(survives(bytes.at, bytes.n));
        assert_ok(dp_fit_save(fit, folder_path("kept"), &err), err.text);
        assert_ok(dp_fit_load(folder_path("kept"), &again, &err), err.text);
        dp_fit_free(fit);
        dpi_bytes second = fit_bytes(again);
        assert_int_equal(bytes.n, second.n);
        assert_memory_equal(bytes.at, second.at, bytes.n);
        /* What users add is not in the file. */
        (void)dp_exp(dp_fit_expr(again, "no such name"));
        dpi_bytes_free(&second);
        second = fit_bytes(again);
        assert_int_equal(bytes.n, second.n);
        assert_memory_equal(bytes.at, second.at, bytes.n);
        dpi_bytes_free(&second);
        dpi_bytes_free(&bytes);
        dp_fit_free(again);
    }
}

static void sections_are_aligned(void **state)
{
    (void)state;
    const uint64_t count[] = {6, 7, 10, 7};
    for (int which = 0; which < SMALL_FITS; which++) {
        dp_fit *fit = small_fit(which);
        dpi_bytes bytes = fit_bytes(fit);
        assert_int_equal(dpi_get_number(bytes.at + 24), count[which]);
        for (uint64_t k = 0; k < count[which]; k++)
            assert_int_equal(dpi_get_number(bytes.at + FIT_HEAD + k * FIT_ENTRY + 32) % 64, 0);
        dpi_bytes_free(&bytes);
        dp_fit_free(fit);
    }
}

/* ---- paths and memory ---- */

static void paths_that_do_not_serve_are_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_fit *fit = small_fit(SMALL_MEAN_FIELD), *other;
    assert_fails(dp_fit_load(folder_path("nothing here"), &other, &err), DP_EIO, &err, "open");
    assert_fails(dp_fit_load(folder_path("."), &other, &err), DP_EIO, &err, "regular");
    assert_fails(dp_fit_load("/dev/zero", &other, &err), DP_EIO, &err, "regular");
    assert_int_equal(mkfifo(folder_path("pipe"), 0600), 0);
    (void)alarm(60); /* opening it could wait for ever */
    assert_fails(dp_fit_load(folder_path("pipe"), &other, &err), DP_EIO, &err, "regular");
    (void)alarm(0);
    folder_write("empty", "");
    assert_fails(dp_fit_load(folder_path("empty"), &other, &err), DP_EDATA, &err, "no fit");
    folder_write("text", "a text");
    assert_fails(dp_fit_load(folder_path("text"), &other, &err), DP_EDATA, &err, "no fit");
    assert_fails(dp_fit_save(fit, folder_path("no/folder"), &err), DP_EIO, &err, "cannot write");
    dp_fit_free(fit);
}

/* Holes of a terabyte and of 4 GiB: no memory is taken for what does not begin as a fit of its size
 * does. */
static void a_large_file_that_is_no_fit_is_refused_at_once(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_fit *fit, *small = small_fit(SMALL_MEAN_FIELD);
    const off_t sizes[] = {(off_t)1 << 40, (off_t)1 << 32};
    for (int k = 0; k < 2; k++) {
        folder_write("large", "tacitfi?");
        if (truncate(folder_path("large"), sizes[k]) != 0)
            skip();
        assert_fails(dp_fit_load(folder_path("large"), &fit, &err), DP_EDATA, &err, "no fit");
        assert_ok(dp_fit_save(small, folder_path("large"), &err), err.text);
        assert_int_equal(truncate(folder_path("large"), sizes[k]), 0);
        assert_fails(dp_fit_load(folder_path("large"), &fit, &err), DP_EDATA, &err, "too late");
    }
    dp_fit_free(small);
}

/* Cuts the file and mends it until it is told to stop. */
static void spoil(const char *path, const dpi_bytes *bytes)
{
    for (int k = 0; k < 1 << 20; k++) {
        int file = open(path, O_WRONLY);
        if (file < 0 || ftruncate(file, (off_t)bytes->n / 3) != 0 ||
            pwrite(file, bytes->at, bytes->n, 0) != (ssize_t)bytes->n || close(file) != 0)
            _exit(1);
    }
    _exit(0);
}

static void a_file_that_is_cut_meanwhile_is_an_error_or_whole(void **state)
{
    (void)state;
    enum { LOADS = 200, DRAWS = 4000 };
    dp_error err = {0};
    dp_fit *fit = with_draws(named_fit(FIT_MIXTURE, 3), DRAWS), *other;
    dpi_bytes bytes = fit_bytes(fit);
    int errors = 0;
    assert_ok(dp_fit_save(fit, folder_path("cut"), &err), err.text);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        spoil(folder_path("cut"), &bytes);
    for (int k = 0; k < LOADS || (errors == 0 && k < 100 * LOADS); k++) {
        dp_status status = dp_fit_load(folder_path("cut"), &other, &err);
        assert_true(status == DP_OK || status == DP_EDATA);
        errors += status != DP_OK;
        if (status == DP_OK) {
            dpi_bytes again = fit_bytes(other);
            assert_int_equal(again.n, bytes.n);
            assert_memory_equal(again.at, bytes.at, bytes.n);
            dpi_bytes_free(&again);
        }
        dp_fit_free(other);
        err = (dp_error){0};
    }
    (void)kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(errors > 0);
    dpi_bytes_free(&bytes);
    dp_fit_free(fit);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    for (int which = SMALL_GUIDED; which < SMALL_FITS; which++) {
        dp_fit *fit = small_fit(which), *again;
        dpi_bytes bytes = fit_bytes(fit);
        size_t k = 1, before = faulty_live();
        for (;; k++) {
            dp_error err = {0};
            faulty_fail(k);
            dp_status status = dpi_fit_restore(bytes.at, bytes.n, &again, &err);
            bool failed = faulty_failed();
            faulty_fail(0);
            dp_fit_free(again);
            assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
            assert_int_equal(faulty_live(), before);
            if (!failed)
                break;
        }
        assert_true(k > 10);
        dpi_bytes_free(&bytes);
        dp_fit_free(fit);
    }
}

static const char *const corpus[SMALL_FITS] = {"mean-field", "guide", "kept", "sourced"};

static void the_fuzzers_corpus_is_of_this_version(void **state)
{
    (void)state;
    const char *root = getenv("top_srcdir");
    for (int k = 0; k < SMALL_FITS; k++) {
        char path[1000];
        dp_error err = {0};
        dp_fit *fit;
        (void)snprintf(path, sizeof path, "%s/fuzz/corpus/fit/%s", root != NULL ? root : ".",
                       corpus[k]);
        assert_ok(dp_fit_load(path, &fit, &err), err.text);
        dp_fit_free(fit);
    }
}

static int write_corpus(const char *folder)
{
    for (int which = 0; which < SMALL_FITS; which++) {
        char path[1000];
        dp_fit *fit = small_fit(which);
        (void)snprintf(path, sizeof path, "%s/%s", folder, corpus[which]);
        if (dp_fit_save(fit, path, NULL) != DP_OK)
            return 1;
        dp_fit_free(fit);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(loaded_elsewhere_fits_answer_to_the_bit, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(storing_what_was_loaded_gives_the_same_bytes, folder_make,
                                        folder_remove),
        cmocka_unit_test(sections_are_aligned),
        cmocka_unit_test_setup_teardown(paths_that_do_not_serve_are_refused, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(a_large_file_that_is_no_fit_is_refused_at_once, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(a_file_that_is_cut_meanwhile_is_an_error_or_whole,
                                        folder_make, folder_remove),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(the_fuzzers_corpus_is_of_this_version),
    };
    if (argc == 3 && strcmp(argv[1], "corpus") == 0)
        return write_corpus(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
