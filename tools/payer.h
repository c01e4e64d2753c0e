/* Which data set of which ledger pays, and which file is read for it. */
#ifndef TOOLS_PAYER_H
#define TOOLS_PAYER_H

#include <tacit/ledger.h>

#include "tools/options.h"

typedef struct payer {
    const char *path; /* of the table */
    const char *name; /* of the data set; NULL without a ledger */
    dp_ledger *ledger;
    const dp_ledger_statement *seen;
} payer;

/* Opens the ledger of --ledger, if one is given, and finds the data set by --name or by --data,
 * whose file must be the one that the ledger knows; without a ledger the path is that of --data.
 * False with a message. */
bool payer_open(payer *p, const settings *said, message *why);
void payer_close(payer *p);

#endif
