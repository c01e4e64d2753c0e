/* Reading the survey under a public schema, and coding its levels. */
#include "women.h"

#include <stdio.h>
#include <stdlib.h>

#include <tacit/table.h>

enum { MISSING_DISTRICT = 54 };

const double women_bound[WOMEN_D] = {1, 2, 4, 1, 1, 1, 1};

static dp_status fail(dp_error *err, dp_status status, const char *why)
{
    err->status = status;
    (void)snprintf(err->text, sizeof err->text, "%s", why);
    return status;
}

static dp_status code(dp_table *table, women *w, dp_error *err)
{
    const double *age = dp_table_real(table, "age");
    const int32_t *use = dp_table_level(table, "use"), *urban = dp_table_level(table, "urban");
    const int32_t *livch = dp_table_level(table, "livch"),
                  *place = dp_table_level(table, "district");
    w->n = dp_table_rows(table);
    w->x = calloc(w->n * WOMEN_D, sizeof *w->x);
    w->use = calloc(w->n, sizeof *w->use);
    w->district = calloc(w->n, sizeof *w->district);
    if (w->x == NULL || w->use == NULL || w->district == NULL)
        return fail(err, DP_ENOMEM, "out of memory");
    for (size_t i = 0; i < w->n; i++) {
        double a = age[i] / 10, *x = w->x + i * WOMEN_D;
        if (place[i] + 1 == MISSING_DISTRICT)
            return fail(err, DP_EDATA, "there is no district 54");
        w->district[i] = place[i] - (place[i] + 1 > MISSING_DISTRICT);
        w->use[i] = use[i];
        x[0] = 1;
        x[1] = a / women_bound[1];
        x[2] = a * a / women_bound[2];
        x[3] = urban[i];
        if (livch[i] > 0)
            x[3 + livch[i]] = 1;
    }
    return DP_OK;
}

dp_status women_read(const char *path, women *w, dp_error *err)
{
    static const char *const yes_no[] = {"N", "Y"}, *const children[] = {"0", "1", "2", "3+"};
    const dp_column columns[] = {
        {.name = "use", .kind = DP_COLUMN_LEVEL, .levels = yes_no, .n_levels = 2},
        {.name = "age", .kind = DP_COLUMN_REAL, .low = -20, .high = 20},
        {.name = "urban", .kind = DP_COLUMN_LEVEL, .levels = yes_no, .n_levels = 2},
        {.name = "livch", .kind = DP_COLUMN_LEVEL, .levels = children, .n_levels = 4},
        {.name = "district", .kind = DP_COLUMN_INTEGER, .low = 1, .high = 61}};
    dp_table *table;
    *w = (women){0};
    dp_status status = dp_table_read_csv(path, NULL, 5, columns, &table, err);
    if (status == DP_OK)
        status = code(table, w, err);
    dp_table_free(table);
    return status;
}

int women_district(int k)
{
    return k + 1 + (k + 1 >= MISSING_DISTRICT);
}

void women_free(women *w)
{
    free(w->x);
    free(w->use);
    free(w->district);
}
