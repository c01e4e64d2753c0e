/* Loads the fits fit-0, fit-1, ... of a folder, whose models it has never seen, and prints for each
 * what it answers for the test's records.
 *   answer-files FOLDER COUNT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/fit/answers.h"
#include "tests/model/random-records.h"

int main(int argc, char **argv)
{
    char path[4096];
    if (argc != 3)
        return 2;
    for (long k = 0, n = atol(argv[2]); k < n; k++) {
        dp_fit *fit;
        dp_error err = {0};
        random_records r;
        (void)snprintf(path, sizeof path, "%s/fit-%ld", argv[1], k);
        if (dp_fit_load(path, &fit, &err) != DP_OK) {
            (void)fprintf(stderr, "%s: %s\n", path, err.text);
            return 1;
        }
        random_records_new(&r, (uint64_t)k);
        (void)printf("%016" PRIx64 "\n", answers_of(fit, r.data));
        random_records_free(&r);
        dp_fit_free(fit);
    }
    return 0;
}
