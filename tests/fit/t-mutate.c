/* Random changes of files of fits: errors, and never a crash.  CHANGES of them in all; the long
 * program makes a million. */
#include "tests/fit/mutate.h"

#include "fit/file.h"
#include "tests/fit/fits.h"
#include "tests/lib/check.h"

#ifndef CHANGES
#define CHANGES 20000
#endif

static void changed_files_are_refused_or_are_other_fits(void **state)
{
    (void)state;
    enum { RANDOM = 4 };
    size_t fits = 0;
    for (int k = 0; k < N_NAMED_FITS + RANDOM; k++) {
        dp_fit *fit = k < N_NAMED_FITS ? named_fit(k, 1) : random_fit((uint64_t)(11 * k), 1);
        dpi_bytes bytes = {0};
        dp_error err = {0};
        if (fit == NULL)
            continue;
        assert_ok(dpi_fit_store(fit, &bytes, &err), err.text);
        fits += mutate(bytes.at, bytes.n, CHANGES / (N_NAMED_FITS + RANDOM), 2385 + (uint64_t)k);
        dpi_bytes_free(&bytes);
        dp_fit_free(fit);
    }
    assert_true(fits > 0); /* changed parameters are parameters */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changed_files_are_refused_or_are_other_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
