/* Files of fits: they come back in another process, to the bit, and what is no such file is
 * refused.
 *   t-file corpus FOLDER   writes the fuzzer's corpus anew */
#define _XOPEN_SOURCE 700
#include "fit/file.h"

#include <fcntl.h>
#include <math.h>
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
#include "tests/graph/faulty.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

enum { RANDOM_MODELS = 200, HEAD = 64, ENTRY = 64 };

static dpi_bytes stored(const dp_fit *fit)
{
    dpi_bytes bytes = {0};
    dp_error err = {0};
    assert_ok(dpi_fit_store(fit, &bytes, &err), err.text);
    return bytes;
}

/* Two numbers learnt, the least that a fit can be; with a guide of its own, or with draws. */
enum { MEAN_FIELD, GUIDED, KEEPING, N_SMALL };

static dp_fit *small_fit(int which)
{
    const bool guided = which == GUIDED;
    double y[] = {0.3, -1.2, 0.7};
    dp_error err = {0};
    dp_svi *svi;
    dp_fit *fit;
    dp_model *m = dp_model_new(), *guide = guided ? dp_guide_new(m) : NULL;
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_dataset *data = dp_dataset_new(3);
    dp_dataset_real(data, "y", 1, y);
    dp_expr w = dp_sample(m, "w", 1, dp_normal(0, 1));
    dp_observe(rows, "y", dp_normal_v(w, dp_num(0.7)));
    if (guided)
        (void)dp_sample(guide, "w", 1, dp_normal_v(dp_param(guide, "at", 1, 0.2), dp_num(0.4)));
    const dp_svi_opts opts = {.epsilon = 1, .delta = 1e-3, .clip = 1, .steps = 2, .seed = 71};
    assert_ok(dp_svi_new(m, guide, data, &opts, &svi, &err), err.text);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(guide);
    dp_model_free(m);
    return which == KEEPING ? with_draws(fit, 5) : fit;
}

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
        dpi_bytes bytes = stored(fit);
        assert_int_equal(bytes.n % 8, 0);
        assert_true(survives(bytes.at, bytes.n));
        assert_ok(dp_fit_save(fit, folder_path("kept"), &err), err.text);
        assert_ok(dp_fit_load(folder_path("kept"), &again, &err), err.text);
        dp_fit_free(fit);
        dpi_bytes second = stored(again);
        assert_int_equal(bytes.n, second.n);
        assert_memory_equal(bytes.at, second.at, bytes.n);
        /* What users add is not in the file. */
        (void)dp_exp(dp_fit_expr(again, "no such name"));
        dpi_bytes_free(&second);
        second = stored(again);
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
    const uint64_t count[] = {6, 7, 10};
    for (int which = 0; which < N_SMALL; which++) {
        dp_fit *fit = small_fit(which);
        dpi_bytes bytes = stored(fit);
        assert_int_equal(dpi_get_number(bytes.at + 24), count[which]);
        for (uint64_t k = 0; k < count[which]; k++)
            assert_int_equal(dpi_get_number(bytes.at + HEAD + k * ENTRY + 32) % 64, 0);
        dpi_bytes_free(&bytes);
        dp_fit_free(fit);
    }
}

/* ---- what is refused ---- */

static void refuses(const dpi_bytes *bytes, dp_status status, const char *says)
{
    dp_error err = {0};
    dp_fit *fit;
    dpi_fit_seal(bytes->at, bytes->n);
    assert_fails(dpi_fit_restore(bytes->at, bytes->n, &fit, &err), status, &err, says);
    assert_null(fit);
}

/* With the first `from` behind byte `start` written as `to`, of the same length. */
static void refuses_with(const dpi_bytes *bytes, size_t start, const char *from, const char *to,
                         dp_status status, const char *says)
{
    size_t n = strlen(from), at = start;
    while (at + n <= bytes->n && memcmp(bytes->at + at, from, n) != 0)
        at++;
    assert_true(at + n <= bytes->n);
    memcpy(bytes->at + at, to, n);
    refuses(bytes, status, says);
    memcpy(bytes->at + at, from, n);
}

static void what_this_version_does_not_know_is_named(void **state)
{
    (void)state;
    dp_fit *fit = small_fit(GUIDED);
    dpi_bytes bytes = stored(fit);
    bytes.at[8] = 2;
    refuses(&bytes, DP_EUNSUPPORTED, "version 2");
    bytes.at[8] = 1;
    refuses_with(&bytes, HEAD, "values", "velues", DP_EUNSUPPORTED, "section 'velues'");
    refuses_with(&bytes, HEAD, "const", "canst", DP_EUNSUPPORTED, "operation 'canst'");
    refuses_with(&bytes, HEAD + 7 * ENTRY, "normal", "nermal", DP_EUNSUPPORTED, "'nermal'");
    refuses_with(&bytes, HEAD, "latents", "lettuce", DP_EUNSUPPORTED, "'lettuce'");
    refuses_with(&bytes, HEAD, "DP_SAMPLING_FULL", "DP_SAMPLING_NULL", DP_EUNSUPPORTED, "NULL'");
    refuses_with(&bytes, 0, "tacitfit", "tacitfat", DP_EDATA, "no fit");
    refuses_with(&bytes, HEAD, "tacitmod", "tacitmad", DP_EDATA, "model");
    dpi_fit_seal(bytes.at, bytes.n);
    assert_true(survives(bytes.at, bytes.n));
    dpi_bytes_free(&bytes);
    dp_fit_free(fit);
}

static void cut_anywhere(const dpi_bytes *bytes)
{
    for (size_t n = 0; n < bytes->n; n++) {
        unsigned char *cut = malloc(n > 0 ? n : 1);
        assert_non_null(cut);
        memcpy(cut, bytes->at, n);
        assert_false(survives(cut, n));
        if (n >= HEAD) {
            dpi_put_number(cut + 16, n);
            dpi_fit_seal(cut, n);
            assert_false(survives(cut, n));
        }
        free(cut);
    }
}

static void cut_anywhere_or_longer_it_is_refused(void **state)
{
    (void)state;
    dp_fit *fit = small_fit(GUIDED), *keeping = small_fit(KEEPING);
    dpi_bytes bytes = stored(keeping);
    cut_anywhere(&bytes);
    dpi_bytes_free(&bytes);
    dp_fit_free(keeping);
    bytes = stored(fit);
    cut_anywhere(&bytes);
    dpi_bytes_add(&bytes, NULL, 64);
    assert_false(survives(bytes.at, bytes.n));
    dpi_put_number(bytes.at + 16, bytes.n);
    refuses(&bytes, DP_EDATA, "not written as this version");
    dpi_bytes_free(&bytes);
    dp_fit_free(fit);
}

static void with_any_byte_changed_it_is_refused(void **state)
{
    (void)state;
    for (int which = 0; which < N_SMALL; which++) {
        dp_fit *fit = small_fit(which);
        dpi_bytes bytes = stored(fit);
        size_t fits = 0;
        for (size_t i = 0; i < bytes.n; i++)
            for (int bit = 0; bit < 8; bit += 7) {
                unsigned char kept[32];
                bytes.at[i] ^= (unsigned char)(1 << bit);
                assert_false(survives(bytes.at, bytes.n)); /* by its hash */
                memcpy(kept, bytes.at + 32, sizeof kept);
                dpi_fit_seal(bytes.at, bytes.n);
                fits += (size_t)survives(bytes.at, bytes.n); /* by what it says */
                memcpy(bytes.at + 32, kept, sizeof kept);
                bytes.at[i] ^= (unsigned char)(1 << bit);
            }
        assert_true(survives(bytes.at, bytes.n));
        assert_true(fits > 16); /* parameters, names, lines of the source */
        dpi_bytes_free(&bytes);
        dp_fit_free(fit);
    }
}

/* Where a section begins, and its row. */
static size_t row_of(const dpi_bytes *bytes, const char *section)
{
    size_t at = HEAD;
    while (strcmp((const char *)bytes->at + at, section) != 0) {
        at += ENTRY;
        assert_true(at < HEAD + 11 * ENTRY);
    }
    return at;
}

static size_t start_of(const dpi_bytes *bytes, const char *section)
{
    return (size_t)dpi_get_number(bytes->at + row_of(bytes, section) + 32);
}

/* With another number in place of that at byte `at`. */
static void refuses_number(const dpi_bytes *bytes, size_t at, uint64_t number, dp_status status,
                           const char *says)
{
    uint64_t kept = dpi_get_number(bytes->at + at);
    dpi_put_number(bytes->at + at, number);
    refuses(bytes, status, says);
    dpi_put_number(bytes->at + at, kept);
}

static void hostile_statements_are_refused(void **state)
{
    (void)state;
    dp_fit *fit = small_fit(MEAN_FIELD);
    dpi_bytes bytes = stored(fit);
    refuses_number(&bytes, start_of(&bytes, "values"), dpi_bits_of(NAN), DP_EDATA, "not finite");
    size_t privacy = start_of(&bytes, "privacy");
    bytes.at[privacy] ^= 1; /* a seeded run that says it is private, and why not */
    refuses(&bytes, DP_EDATA, "privacy");
    bytes.at[privacy] ^= 1;
    dpi_bytes_free(&bytes);
    dp_fit_free(fit);
}

static void hostile_draws_are_refused(void **state)
{
    (void)state;
    dp_fit *fit = named_fit(FIT_KEPT, 3);
    dpi_bytes bytes = stored(fit);
    size_t n, latents = start_of(&bytes, "latents"), draws = start_of(&bytes, "draws"),
              size = fit->parts.draw_size;
    const uint64_t counts[] = {0, 1, 4, 6, UINT64_MAX, UINT64_C(1) << 61, 5 * size};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        refuses_number(&bytes, latents, counts[k], DP_EDATA, "draws");
        refuses_number(&bytes, latents + 8, counts[k], DP_EDATA, "draws");
    }
    /* As many numbers in all, in draws of other sizes. */
    dpi_put_number(bytes.at + latents, size);
    refuses_number(&bytes, latents + 8, 5, DP_EDATA, "draws of 5");
    dpi_put_number(bytes.at + latents, 5 * size);
    refuses_number(&bytes, latents + 8, 1, DP_EDATA, "draws of 1");
    dpi_put_number(bytes.at + latents, 5);
    refuses_number(&bytes, latents + 16, 2, DP_EDATA, "not written as");
    for (size_t k = 0; k < 5 * size; k++)
        refuses_number(&bytes, draws + 8 * k, dpi_bits_of(NAN), DP_EDATA, "draw");
    dp_rng *rng;
    dp_draws *some;
    dp_error err = {0};
    assert_ok(dp_rng_new(1, &rng, &err), err.text);
    assert_ok(dp_fit_draw(fit, 1, rng, &some, &err), err.text);
    size_t width = dp_draws_find(some, "width", &n), share = dp_draws_find(some, "share", &n);
    refuses_number(&bytes, draws + 8 * width, dpi_bits_of(-1), DP_EDATA, "width[0][0] is not");
    refuses_number(&bytes, draws + 8 * share, dpi_bits_of(0.999), DP_EDATA, "sum to 1");
    dp_draws_free(some);
    dp_rng_free(rng);
    dpi_bytes_free(&bytes);
    dp_fit_free(fit);
}

/* The numbers of the first phase stand behind its name, those of the first diagnostic too. */
static void hostile_phases_and_diagnostics_are_refused(void **state)
{
    (void)state;
    dp_fit *fit = small_fit(KEEPING);
    dpi_bytes bytes = stored(fit);
    size_t phases = start_of(&bytes, "phases"), checks = start_of(&bytes, "diagnostics");
    const uint64_t counts[] = {0, 1, 3, UINT64_MAX, UINT64_C(1) << 61};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        refuses_number(&bytes, phases, counts[k], DP_EDATA, "phases");
        refuses_number(&bytes, checks, counts[k], DP_EDATA, "diagnostics");
    }
    size_t sigma = phases + 8 + 8 + 16 + 8, value = checks + 8 + 8 + 16; /* "whitening" takes 16 */
    assert_true(dpi_get_number(bytes.at + sigma) == dpi_bits_of(2.385));
    assert_true(dpi_get_number(bytes.at + value) == dpi_bits_of(1.0071));
    refuses_number(&bytes, phases + 8, UINT64_MAX, DP_EDATA, "phases"); /* no name */
    refuses_number(&bytes, sigma, dpi_bits_of(-1), DP_EDATA, "phase 0");
    refuses_number(&bytes, sigma + 8, dpi_bits_of(NAN), DP_EDATA, "phase 0");
    refuses_number(&bytes, value, dpi_bits_of(NAN), DP_EDATA, "diagnostic 0");
    refuses_number(&bytes, value + 8, dpi_bits_of(NAN), DP_EDATA, "diagnostic 0");
    refuses_number(&bytes, value + 16, 2, DP_EDATA, "diagnostics");
    dpi_bytes_free(&bytes);
    dp_fit_free(fit);
}

/* Each is there with the other, or not at all. */
static void draws_without_their_names_are_refused(void **state)
{
    (void)state;
    dp_fit *fit = small_fit(KEEPING);
    dpi_bytes bytes = stored(fit);
    size_t latents = row_of(&bytes, "latents"), draws = row_of(&bytes, "draws");
    size_t end = HEAD + 10 * ENTRY;
    unsigned char rows[10 * ENTRY];
    memcpy(rows, bytes.at + HEAD, sizeof rows);
    bytes.at[24] = 9;
    memmove(bytes.at + draws, bytes.at + draws + ENTRY, end - draws - ENTRY);
    refuses(&bytes, DP_EDATA, "a section is missing");
    memcpy(bytes.at + HEAD, rows, sizeof rows);
    memmove(bytes.at + latents, bytes.at + latents + ENTRY, end - latents - ENTRY);
    refuses(&bytes, DP_EDATA, "draws");
    memcpy(bytes.at + HEAD, rows, sizeof rows);
    bytes.at[24] = 10;
    dpi_fit_seal(bytes.at, bytes.n);
    assert_true(survives(bytes.at, bytes.n));
    dpi_bytes_free(&bytes);
    dp_fit_free(fit);
}

static void paths_that_do_not_serve_are_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_fit *fit = small_fit(MEAN_FIELD), *other;
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
    dp_fit *fit, *small = small_fit(MEAN_FIELD);
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
    dpi_bytes bytes = stored(fit);
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
            dpi_bytes again = stored(other);
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
    for (int which = GUIDED; which <= KEEPING; which++) {
        dp_fit *fit = small_fit(which), *again;
        dpi_bytes bytes = stored(fit);
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
        assert_true(k > 20);
        dpi_bytes_free(&bytes);
        dp_fit_free(fit);
    }
}

static const char *const corpus[N_SMALL] = {"mean-field", "guide", "kept"};

static void the_fuzzers_corpus_is_of_this_version(void **state)
{
    (void)state;
    const char *root = getenv("top_srcdir");
    for (int k = 0; k < N_SMALL; k++) {
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
    for (int which = 0; which < N_SMALL; which++) {
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
        cmocka_unit_test(what_this_version_does_not_know_is_named),
        cmocka_unit_test(cut_anywhere_or_longer_it_is_refused),
        cmocka_unit_test(with_any_byte_changed_it_is_refused),
        cmocka_unit_test(hostile_statements_are_refused),
        cmocka_unit_test(hostile_draws_are_refused),
        cmocka_unit_test(hostile_phases_and_diagnostics_are_refused),
        cmocka_unit_test(draws_without_their_names_are_refused),
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
