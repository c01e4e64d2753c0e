/* A plan as somebody else's tool may write it, for check-silo-columns and check-silo-trio: that of
 * the file, not signed, with a line more at the end of its schema, which tacit silo plan would
 * refuse; or of three parties, with N columns more of the first; or with priors.
 *   dropping PLAN LINE > PLAN
 *   dropping PLAN '' N [PRIORS] > PLAN */
#include <stdio.h>
#include <stdlib.h>

#include <tacit/silo.h>

static int fail(const dp_error *err)
{
    (void)fprintf(stderr, "dropping: %s\n", err->text);
    return 1;
}

int main(int argc, char **argv)
{
    static char schema[65536];
    dp_silo_plan *plan = NULL, *changed = NULL;
    dp_error err = {0};
    if (argc < 3 || argc > 5)
        return 2;
    if (dp_silo_plan_load(argv[1], &plan, &err) != DP_OK)
        return fail(&err);
    dp_silo_opts opts = *dp_silo_plan_opts(plan);
    dp_fit_source source = *opts.source;
    dp_silo_trio trio = {.name = NULL};
    (void)snprintf(schema, sizeof schema, "%s%s%s", source.schema, argv[2],
                   argv[2][0] != '\0' ? "\n" : "");
    source.schema = schema;
    opts.source = &source;
    if (argc == 5)
        source.priors = argv[4];
    if (argc > 3 && opts.trio != NULL) {
        trio = *opts.trio;
        trio.columns[0] += (size_t)strtoul(argv[3], NULL, 10);
        opts.trio = &trio;
    }
    if (dp_silo_plan_new(&opts, &changed, &err) != DP_OK)
        return fail(&err);
    (void)fputs(dp_silo_plan_text(changed), stdout);
    dp_silo_plan_free(changed);
    dp_silo_plan_free(plan);
    return 0;
}
