#include "tests/formula/tables.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/check.h"

const data_set *find_data_set(const char *name)
{
    const data_set *set = data_set_named(name);
    if (set == NULL)
        fail_msg("no data set '%s'", name);
    return set;
}

dp_table *read_data_set(const data_set *of)
{
    char folder[4096];
    const char *given = getenv("top_srcdir"), *root = given != NULL ? given : ".";
    dp_table *table;
    dp_error err = {0};
    (void)snprintf(folder, sizeof folder, "%s/../shared/data", root);
    dp_status status = data_set_read(of, folder, root, &table, &err);
    if (status != DP_EIO)
        assert_ok(status, err.text);
    return table;
}
