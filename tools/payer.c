/* What is read is what is paid for: a ledger's data set is read from the ledger's path. */
#define _XOPEN_SOURCE 700
#include "tools/payer.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const dp_ledger_data *named(const payer *p, const char *name, const char *path)
{
    for (size_t i = 0; i < p->seen->n; i++) {
        const dp_ledger_data *d = &p->seen->data[i];
        if (name != NULL ? strcmp(d->name, name) == 0
                         : d->path != NULL && path != NULL && strcmp(d->path, path) == 0)
            return d;
    }
    return NULL;
}

static bool find_data(payer *p, const settings *s, message *why)
{
    char path[PATH_MAX];
    const bool there = s->data != NULL && realpath(s->data, path) != NULL;
    const dp_ledger_data *d = named(p, s->name, there ? path : NULL);
    if (d == NULL && s->name != NULL)
        return complain(why,
                        "the ledger has no data set '%.100s'; tacit ledger show lists them, tacit "
                        "ledger add adds one",
                        s->name);
    if (d == NULL)
        return complain(
            why, "the ledger knows no data set with the file %.300s; tacit ledger add adds it",
            s->data);
    if (d->path == NULL)
        return complain(why,
                        "'%.100s' are columns in memory, which no file holds; add the file to the "
                        "ledger",
                        d->name);
    if (s->data != NULL && (!there || strcmp(path, d->path) != 0))
        return complain(why,
                        "the file of '%.100s' in the ledger is %.300s, and --data is another one; "
                        "leave --data out, or add its file to the ledger",
                        d->name, d->path);
    p->name = d->name;
    p->path = d->path;
    return true;
}

bool payer_open(payer *p, const settings *s, message *why)
{
    dp_error err = {DP_OK, ""};
    *p = (payer){.path = s->data};
    if (s->ledger == NULL)
        return true;
    dp_status status = dp_ledger_open(s->ledger, &p->ledger, &err);
    if (status == DP_OK)
        status = dp_ledger_read(p->ledger, &p->seen, &err);
    if (status != DP_OK)
        return complain(why, "%s", err.text[0] != '\0' ? err.text : dp_status_text(status));
    return find_data(p, s, why);
}

void payer_close(payer *p)
{
    dp_ledger_statement_free(p->seen);
    dp_ledger_close(p->ledger);
}
