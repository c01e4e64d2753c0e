/* Invented records are written as a CSV text and read again, so that they are a table as any
 * other. */
#define _POSIX_C_SOURCE 200809L
#include "tools/invent.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void put_field(FILE *to, const char *text)
{
    (void)fputc('"', to);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            (void)fputc('"', to);
        (void)fputc(*text, to);
    }
    (void)fputc('"', to);
}

static uint64_t below(dp_rng *rng, size_t n)
{
    uint64_t drawn = 0;
    return dp_rng_below(rng, n, 1, &drawn, NULL) == DP_OK ? drawn : 0;
}

static void put_value(FILE *to, const dp_column *c, size_t record, dp_rng *rng)
{
    double share;
    switch (c->kind) {
    case DP_COLUMN_REAL:
        dp_rng_uniform(rng, 1, &share);
        (void)fprintf(to, "%.15g", c->low * (1 - share) + c->high * share);
        break;
    case DP_COLUMN_INTEGER:
        (void)fprintf(to, "%.0f", c->low + (double)below(rng, (size_t)(c->high - c->low) + 1));
        break;
    case DP_COLUMN_LEVEL:
        put_field(to, c->levels[below(rng, c->n_levels)]);
        break;
    case DP_COLUMN_UNIT:
        (void)fprintf(to, "%zu", record);
        break;
    }
}

static void put_records(FILE *to, const dp_column *columns, size_t n_columns, size_t n, dp_rng *rng)
{
    for (size_t j = 0; j < n_columns; j++) {
        put_field(to, columns[j].name);
        (void)fputs(j + 1 < n_columns ? "," : "\n", to);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n_columns; j++) {
            put_value(to, &columns[j], i, rng);
            (void)fputs(j + 1 < n_columns ? "," : "\n", to);
        }
}

dp_status invent_table(const dp_column *columns, size_t n_columns, size_t n, dp_rng *rng,
                       dp_table **table, double *seconds, dp_error *err)
{
    char *text = NULL;
    size_t size = 0;
    *table = NULL;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL)
        return DP_ENOMEM;
    put_records(to, columns, n_columns, n, rng);
    const int failed = ferror(to);
    dp_status status = fclose(to) == 0 && !failed ? DP_OK : DP_ENOMEM;
    const double begun = invent_now();
    if (status == DP_OK)
        status = dp_table_parse_csv(text, size, NULL, n_columns, columns, table, err);
    if (seconds != NULL)
        *seconds = invent_now() - begun;
    free(text);
    return status;
}

double invent_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
