/* in-clear FIT CSV LOW,HIGH [DRAWS]: what tacit ask is to print, by the oracle in the clear; for
 * tests/tools/check-serve. */
#include <stdio.h>
#include <stdlib.h>

#include <tacit/program.h>

#include "tools/load-program.h"
#include "tools/records.h"

int main(int argc, char **argv)
{
    settings said = settings_none();
    dp_program *p = NULL;
    dp_error err = {DP_OK, ""};
    double *x = NULL, mean[8], sd[8];
    int64_t v[64], y[64];
    size_t n = 0;
    if (argc < 4 || sscanf(argv[3], "%lf,%lf", &said.range.value[0], &said.range.value[1]) != 2)
        return 2;
    said.range.n = 2;
    if (argc > 4)
        said.draws = atof(argv[4]);
    if (load_program(argv[1], &said, &p, &err) != DP_OK ||
        read_records(argv[2], p, &n, &x, &err) != DP_OK || dp_program_inputs(p) > 64 ||
        dp_program_outputs(p) > 64 || dp_program_outputs(p) / dp_program_draws(p) > 8) {
        (void)fprintf(stderr, "in-clear: %s\n", err.text);
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        if (dp_program_encode(p, 1, x + i * dp_program_inputs(p), v, &err) != DP_OK ||
            dp_program_run_exact(p, 1, v, y, &err) != DP_OK)
            return 1;
        dp_program_decode(p, y, mean, sd);
        for (size_t k = 0; k < dp_program_outputs(p) / dp_program_draws(p); k++) {
            (void)printf("%s%.6g", k > 0 ? "\t" : "", mean[k]);
            if (dp_program_draws(p) > 1)
                (void)printf("\t%.6g", sd[k]);
        }
        (void)printf("\n");
    }
    free(x);
    dp_program_free(p);
    return 0;
}
