/* What a question came to, and how it is told: to people, or as JSON. */
#ifndef TOOLS_ANSWER_H
#define TOOLS_ANSWER_H

#include <tacit/accountant.h>

#include "tools/options.h"

enum { N_FPR = 3, N_ORDERS = 6 };
extern const double answer_fpr[N_FPR];      /* 0.1, 0.01, 0.001 */
extern const double answer_order[N_ORDERS]; /* of Renyi divergences */

/* What an attacker can do: each figure with the reason why it is missing, if it is. */
typedef struct attack {
    dp_interval advantage, tpr[N_FPR];
    dp_error advantage_error, tpr_error[N_FPR];
    double mu, renyi[N_ORDERS];
    dp_error mu_error, renyi_error[N_ORDERS];
} attack;

typedef struct answer {
    const char *command;
    const dp_mechanism *list; /* [n], borrowed */
    size_t n;
    double records;           /* number of records; NaN when not told */
    dp_interval found;        /* epsilon, or delta for `tacit delta` */
    bool is_delta, has_point; /* risk may come without epsilon and delta */
    double given;             /* delta, or epsilon for `tacit delta` */
    double sigma, asked;      /* `tacit sigma`: noise found and epsilon asked for; else NaN */
    double seconds;           /* of the calls into the library for `found` */
    attack attack;
    bool full; /* risk: everything about attacks */
} answer;

/* Asks the library for what an attacker can do; `full` with mu and Renyi divergences. */
void answer_attack(answer *a, double width);

void answer_tell(FILE *out, const answer *a);
void answer_json(FILE *out, const answer *a);

#endif
