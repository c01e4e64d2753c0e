#define _POSIX_C_SOURCE 200809L
#include "tests/ledger/folder.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/check.h"

static char folder[64];
static char paths[8][600];
static int next;

const char *folder_path(const char *name)
{
    char *path = paths[next++ % 8];
    assert_true(snprintf(path, sizeof paths[0], "%s/%s", folder, name) < (int)sizeof paths[0]);
    return path;
}

static void empty(void)
{
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list)) != NULL;)
        if (entry->d_name[0] != '.')
            (void)unlink(folder_path(entry->d_name));
    (void)closedir(list);
}

int folder_make(void **state)
{
    (void)state;
    /* In memory where there is such a place: a test syncs some hundred times. */
    const char *place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".";
    (void)snprintf(folder, sizeof folder, "%s/tacit-ledger-XXXXXX", place);
    (void)umask(022); /* what others may write is refused */
    return mkdtemp(folder) == NULL;
}

int folder_remove(void **state)
{
    (void)state;
    empty();
    return rmdir(folder);
}

void folder_write(const char *name, const char *text)
{
    FILE *file = fopen(folder_path(name), "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

dp_ledger *folder_ledger(double epsilon)
{
    dp_error err = {0};
    dp_ledger *ledger;
    const dp_budget budget = {.epsilon = epsilon, .delta = 1e-6, .adjacency = DP_ADD_REMOVE};
    const dp_ledger_source source = {.path = folder_path("data.csv")};
    empty();
    folder_write("data.csv", "x,y\n1,2\n");
    assert_ok(dp_ledger_create(folder_path("ledger"), &ledger, &err), err.text);
    assert_ok(dp_ledger_add_data(ledger, "d", &source, &budget, &err), err.text);
    return ledger;
}

dp_mechanism gaussian(double sigma, uint64_t steps)
{
    return (dp_mechanism){.sampling = DP_SAMPLING_FULL, .sigma = sigma, .rate = 1, .steps = steps};
}

dp_reservation *reserve(dp_ledger *ledger, dp_mechanism m)
{
    dp_error err = {0};
    dp_reservation *r;
    const dp_spending what = {.data = "d", .list = &m, .n = 1};
    assert_ok(dp_ledger_reserve(ledger, &what, &r, &err), err.text);
    return r;
}

dp_status try_reserve(dp_ledger *ledger, dp_mechanism m, dp_error *err)
{
    dp_reservation *r;
    const dp_spending what = {.data = "d", .list = &m, .n = 1};
    dp_status status = dp_ledger_reserve(ledger, &what, &r, err);
    assert_true((status == DP_OK) == (r != NULL));
    dp_reservation_free(r);
    return status;
}

double spent(dp_ledger *ledger)
{
    dp_error err = {0};
    dp_interval epsilon;
    assert_ok(dp_ledger_spent(ledger, "d", &epsilon, &err), err.text);
    assert_true(epsilon.lower <= epsilon.upper);
    return epsilon.upper;
}

folder_entry folder_look(dp_ledger *ledger)
{
    dp_error err = {0};
    const dp_ledger_statement *all;
    dp_interval epsilon;
    assert_ok(dp_ledger_spent(ledger, "records", &epsilon, &err), err.text);
    assert_ok(dp_ledger_read(ledger, &all, &err), err.text);
    const dp_ledger_data *mine = &all->data[1];
    folder_entry found = {.n = mine->n, .spent = epsilon.upper};
    for (size_t k = 0; mine->n > 0 && k < mine->entries[0].n; k++) {
        found.settled = mine->entries[0].settled > 0;
        found.reserved += mine->entries[0].list[k].steps;
        found.begun += mine->entries[0].begun[k];
    }
    dp_ledger_statement_free(all);
    return found;
}

void folder_sql(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(folder_path("ledger"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}
