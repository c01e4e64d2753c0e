/* Bytes that are no file of a fit, or one that no program wrote, are refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/file.h"
#include "tests/fit/fits.h"
#include "tests/fit/mutate.h"
#include "tests/fit/small.h"
#include "tests/lib/check.h"

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
    dp_fit *fit = small_fit(SMALL_GUIDED);
    dpi_bytes bytes = fit_bytes(fit);
    bytes.at[8] = 2;
    refuses(&bytes, DP_EUNSUPPORTED, "version 2");
    bytes.at[8] = 1;
    refuses_with(&bytes, FIT_HEAD, "values", "velues", DP_EUNSUPPORTED, "section 'velues'");
    refuses_with(&bytes, FIT_HEAD, "const", "canst", DP_EUNSUPPORTED, "operation 'canst'");
    refuses_with(&bytes, FIT_HEAD + 7 * FIT_ENTRY, "normal", "nermal", DP_EUNSUPPORTED, "'nermal'");
    refuses_with(&bytes, FIT_HEAD, "latents", "lettuce", DP_EUNSUPPORTED, "'lettuce'");
    refuses_with(&bytes, FIT_HEAD, "DP_SAMPLING_FULL", "DP_SAMPLING_NULL", DP_EUNSUPPORTED,
                 "NULL'");
    refuses_with(&bytes, 0, "tacitfit", "tacitfat", DP_EDATA, "no fit");
    refuses_with(&bytes, FIT_HEAD, "tacitmod", "tacitmad", DP_EDATA, "model");
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
        if (n >= FIT_HEAD) {
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
    dp_fit *fit = small_fit(SMALL_GUIDED);
    dpi_bytes bytes;
    for (int which = SMALL_KEEPING; which <= SMALL_SOURCED; which++) {
        dp_fit *other = small_fit(which);
        bytes = fit_bytes(other);
        cut_anywhere(&bytes);
        dpi_bytes_free(&bytes);
        dp_fit_free(other);
    }
    bytes = fit_bytes(fit);
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
    for (int which = 0; which < SMALL_FITS; which++) {
        dp_fit *fit = small_fit(which);
        dpi_bytes bytes = fit_bytes(fit);
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
    size_t at = FIT_HEAD;
    while (strcmp((const char *)bytes->at + at, section) != 0) {
        at += FIT_ENTRY;
        assert_true(at < FIT_HEAD + 12 * FIT_ENTRY);
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
    dp_fit *fit = small_fit(SMALL_MEAN_FIELD);
    dpi_bytes bytes = fit_bytes(fit);
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
    dpi_bytes bytes = fit_bytes(fit);
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
    dp_fit *fit = small_fit(SMALL_KEEPING);
    dpi_bytes bytes = fit_bytes(fit);
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

/* The formula is the first text, behind it the family, no priors, and two lines. */
static void hostile_sources_are_refused(void **state)
{
    (void)state;
    dp_fit *fit = small_fit(SMALL_SOURCED);
    dpi_bytes bytes = fit_bytes(fit);
    const size_t formula = start_of(&bytes, "source"), priors = formula + 8 + 8 + 8 + 24,
                 lines = priors + 8;
    const uint64_t counts[] = {1, 3, UINT64_MAX, UINT64_C(1) << 61};
    assert_true(dpi_get_number(bytes.at + lines) == 2);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        refuses_number(&bytes, lines, counts[k], DP_EDATA, "source");
    refuses_number(&bytes, lines, 0, DP_EDATA, "source");
    refuses_number(&bytes, formula, UINT64_MAX, DP_EDATA, "source"); /* none */
    refuses_number(&bytes, formula, 0, DP_EDATA, "damaged");
    refuses_number(&bytes, priors, 0, DP_EDATA, "source"); /* empty is not none */
    refuses_with(&bytes, formula, "y ~ 1", "y\n~ 1", DP_EDATA, "source");
    refuses_with(&bytes, lines, "= 3", "=\n3", DP_EDATA, "source");
    dpi_bytes_free(&bytes);
    dp_fit_free(fit);
}

/* Each is there with the other, or not at all. */
static void draws_without_their_names_are_refused(void **state)
{
    (void)state;
    dp_fit *fit = small_fit(SMALL_KEEPING);
    dpi_bytes bytes = fit_bytes(fit);
    size_t latents = row_of(&bytes, "latents"), draws = row_of(&bytes, "draws");
    size_t end = FIT_HEAD + 10 * FIT_ENTRY;
    unsigned char rows[10 * FIT_ENTRY];
    memcpy(rows, bytes.at + FIT_HEAD, sizeof rows);
    bytes.at[24] = 9;
    memmove(bytes.at + draws, bytes.at + draws + FIT_ENTRY, end - draws - FIT_ENTRY);
    refuses(&bytes, DP_EDATA, "a section is missing");
    memcpy(bytes.at + FIT_HEAD, rows, sizeof rows);
    memmove(bytes.at + latents, bytes.at + latents + FIT_ENTRY, end - latents - FIT_ENTRY);
    refuses(&bytes, DP_EDATA, "draws");
    memcpy(bytes.at + FIT_HEAD, rows, sizeof rows);
    bytes.at[24] = 10;
    dpi_fit_seal(bytes.at, bytes.n);
    assert_true(survives(bytes.at, bytes.n));
    dpi_bytes_free(&bytes);
    dp_fit_free(fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_this_version_does_not_know_is_named),
        cmocka_unit_test(cut_anywhere_or_longer_it_is_refused),
        cmocka_unit_test(with_any_byte_changed_it_is_refused),
        cmocka_unit_test(hostile_statements_are_refused),
        cmocka_unit_test(hostile_draws_are_refused),
        cmocka_unit_test(hostile_phases_and_diagnostics_are_refused),
        cmocka_unit_test(hostile_sources_are_refused),
        cmocka_unit_test(draws_without_their_names_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
