/* Plan files: lists of mechanisms to be composed.
 *
 * One mechanism a line, `poisson sigma=1.5 q=128/60000 steps=5000`: the sampling first, then keys,
 * which are the options of the same name; # begins a comment.  Or JSON: a list of objects with
 * these keys, [{"sampling": "poisson", "sigma": 1.5, "q": 0.00213, "steps": 5000}].  The text may
 * be hostile. */
#ifndef TOOLS_PLAN_H
#define TOOLS_PLAN_H

#include <tacit/accountant.h>

#include "tools/options.h"

enum { MOST_MECHANISMS = 10000, MOST_PLAN_BYTES = 1 << 20 };

typedef struct plan {
    size_t n;
    dp_mechanism *list;         /* [n], owned */
    double least_n;             /* fewest records that a mechanism names; NaN when none does */
    struct plan_numbers *lists; /* what the mechanisms' jumps point to, owned */
} plan;

/* Reads a plan from text; `name` begins the messages.  False with a message and an empty plan. */
bool plan_parse(const char *text, size_t size, const char *name, plan *p, message *why);

/* Reads a file, or standard input for "-". */
bool plan_read(const char *path, plan *p, message *why);

void plan_free(plan *p);

#endif
