/* What a program under encryption does on many cards: one list of steps, which all that runs it or
 * tells how long it takes reads (doc/design/cluster.md).
 *
 * A value is made once, by a step on one card, or is an input.  A message takes one from a card
 * that has it to one that has not.  A card's list of computations, and that of its messages, are
 * what of the steps is its own, in their order: of all steps not done yet the first can always be
 * done, so that cards that keep to their lists never wait for each other in a circle. */
#ifndef DPI_CLUSTER_PLAN_H
#define DPI_CLUSTER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "base/alloc.h"

enum { DPI_PLAN_CARDS = 64 };

/* Levels are counted down from the top.  MULTIPLY and TIMES leave the scale of a product. */
typedef enum dpi_card_op {
    DPI_OP_ROTATE,   /* in, by `argument` places */
    DPI_OP_MULTIPLY, /* in in' */
    DPI_OP_TIMES,    /* in, times plaintext `argument` */
    DPI_OP_ADD,      /* in + in' */
    DPI_OP_RESCALE,  /* in, one level down */
    DPI_OP_TWICE,    /* 2 in in' - in'', or - 1 without that; rescaled */
    DPI_OP_COMBINE,  /* a_0 + a_1 in + a_2 in' ..., of numbers from `argument` on; rescaled */
    DPI_OP_RAISE,    /* in, at the top level: its coefficients are then off by multiples of q_0 */
    DPI_OP_WORK,     /* nothing but time: what was counted and timed as one */
    DPI_OP_MESSAGE,
    DPI_OPS
} dpi_card_op;

typedef enum dpi_count { DPI_ROTATIONS, DPI_PRODUCTS, DPI_TIMES, DPI_SUMS, DPI_COUNTS } dpi_count;

typedef struct dpi_step {
    dpi_card_op op;
    uint32_t card, to; /* of a message: from, to; else where it is computed */
    uint32_t out;      /* the value that is made, or sent */
    uint32_t in, n_in; /* plan->in[in ... in + n_in - 1] */
    uint32_t argument;
    uint32_t level; /* at which it is computed: inputs are lowered to it */
    uint32_t stage; /* of the program: what it is reported under */
    uint32_t count[DPI_COUNTS];
    double seconds; /* of WORK, beside what is counted */
} dpi_step;

typedef struct dpi_card_value {
    uint64_t at;   /* bits: cards that have it */
    uint32_t home; /* the card that made it */
    uint32_t level;
} dpi_card_value;

typedef struct dpi_plan {
    size_t cards, n_steps, n_values, n_in, n_numbers, n_plains;
    dpi_step *step;
    dpi_card_value *value;
    uint32_t *in;
    double *number; /* of COMBINE */
    uint32_t stage; /* of steps to come */
    bool copied;    /* the network copies what is broadcast; set before any is */
    size_t room[4]; /* of step, value, in, number */
    dpi_arena arena;
    dp_status status; /* of the first failure; nothing is added after it */
} dpi_plan;

/* cards 1 .. DPI_PLAN_CARDS, else misuse. */
void dpi_plan_begin(dpi_plan *p, size_t cards);
void dpi_plan_free(dpi_plan *p);

/* A value that all cards have, at a level. */
uint32_t dpi_plan_input(dpi_plan *p, uint32_t level);

/* Adds a step of s.op, card, argument, seconds, counts where it is WORK, and no level above
 * s.level; inputs that the card has not are sent to it by their homes.  Returns what is made. */
uint32_t dpi_plan_do(dpi_plan *p, dpi_step s, size_t n, const uint32_t *in);

/* The card that made a value; 0 of a plan that failed. */
uint32_t dpi_plan_home(const dpi_plan *p, uint32_t value);

/* Sends a value; nothing where the card has it. */
void dpi_plan_send(dpi_plan *p, uint32_t value, uint32_t from, uint32_t to);

/* From each of `n` cards from `first` on what it made to all others of them: values[n], in rounds
 * of neighbours that are 1, 2, ... apart, so that each card sends one and gets one at a time. */
void dpi_plan_exchange(dpi_plan *p, uint32_t first, uint32_t n, const uint32_t *values);

/* From card `first`, and who has it of them, to the others of n (the last card is followed by card
 * 0): by a tree of rounds, or, where
 * they are copied, by messages one behind another that count as one (simulate.h). */
void dpi_plan_broadcast(dpi_plan *p, uint32_t value, uint32_t first, uint32_t n);

/* The sum of values[n], one or more, by a tree: pairs at the home of the first, to that of
 * values[0]. */
uint32_t dpi_plan_sum(dpi_plan *p, uint32_t n, uint32_t *values);

/* Numbers for COMBINE: where they begin. */
uint32_t dpi_plan_numbers(dpi_plan *p, size_t n, const double *a);

/* Plaintexts that TIMES names: where so many begin. */
uint32_t dpi_plan_plains(dpi_plan *p, size_t n);

/* Operations of one card, or of all where it is `cards`. */
void dpi_plan_count(const dpi_plan *p, size_t card, size_t count[DPI_COUNTS]);

/* Messages of the whole. */
size_t dpi_plan_messages(const dpi_plan *p);

#endif
