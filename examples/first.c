/* A first program: how the use of contraception goes with age, within a budget of privacy. */
#include <stdio.h>
#include <stdlib.h>
#include <tacit/tacit.h>

int main(int argc, char **argv)
{
    const char *const no_yes[] = {"N", "Y"}; /* what is public */
    const dp_column columns[] = {{"use", DP_COLUMN_LEVEL, .levels = no_yes, .n_levels = 2},
                                 {"age", DP_COLUMN_REAL, .low = -20, .high = 20}};
    dp_error err = {0};
    dp_table *table;
    dp_fit *fit;
    if (dp_table_read_csv(argc > 1 ? argv[1] : "contraception.csv", NULL, 2, columns, &table, &err))
        return fprintf(stderr, "%s\n", err.text), 1;
    size_t n = dp_table_rows(table);
    const int32_t *use = dp_table_level(table, "use");
    double *y = calloc(n, sizeof *y);
    for (size_t i = 0; y != NULL && i < n; i++)
        y[i] = use[i];
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_real(data, "age", 1, dp_table_real(table, "age"));
    dp_dataset_real(data, "use", 1, y);

    dp_model *m = dp_model_new();
    dp_plate women = dp_unit_plate(m, "women");                /* one row = one woman */
    dp_expr x = dp_mul(dp_data(women, "age", 1), dp_num(0.1)); /* decades from the mean */
    dp_expr level = dp_sample(m, "level", 1, dp_normal(0, 2.5));
    dp_expr slope = dp_sample(m, "slope", 1, dp_normal(0, 2.5));
    dp_expr bend = dp_sample(m, "bend", 1, dp_normal(0, 2.5));
    dp_expr odds = dp_add(level, dp_add(dp_mul(slope, x), dp_mul(bend, dp_square(x))));
    dp_observe(women, "use", dp_bernoulli_logit(odds));

    dp_fit_opts o = {.epsilon = 1, .delta = 1e-5};
    if (dp_fit_private(m, data, &o, &fit, &err) || dp_fit_print(fit, stdout, &err))
        return fprintf(stderr, "%s\n", err.text), 1;
    dp_fit_free(fit), dp_model_free(m), dp_dataset_free(data), dp_table_free(table), free(y);
    return 0;
}
