/* Step-size schedules, gradient ascent with and without memory, and averages of iterates. */
#ifndef DPI_SVI_OPTIMIZER_H
#define DPI_SVI_OPTIMIZER_H

#include <tacit/svi.h>

#include "base/alloc.h"

/* Numbers that an optimiser remembers of every parameter. */
enum { DPI_OPTIMIZER_STATES = 2 };

/* And all that a run has of it: these, the parameters themselves, and their average. */
enum { DPI_OPTIMIZER_VECTORS = DPI_OPTIMIZER_STATES + 2 };

/* One of them, by its name: doubles or floats, of which numbers are read and set one by one; a
 * number that was read is set to the bit. */
typedef struct dpi_state {
    const char *name; /* at most 31 bytes */
    double *at;       /* [n parameters], or NULL where there is */
    float *at_single; /* [n parameters] */
} dpi_state;

double dpi_state_get(const dpi_state *s, size_t i);
void dpi_state_set(const dpi_state *s, size_t i, double x);
size_t dpi_state_bytes(const dpi_state *s); /* of a number */

typedef struct dpi_rule dpi_rule;

typedef struct dpi_optimizer {
    size_t n;
    uint64_t steps, done;
    uint64_t emptied; /* steps done when what is remembered was empty */
    bool single;      /* what is remembered are floats, as records are (exec/single.c) */
    bool apart;       /* iterates are of one owner alone, and enter no average (svi/local.c) */
    const dpi_rule *kind;
    dp_schedule schedule;
    double step_size, momentum, beta2;
    uint64_t average_from; /* steps after this one enter the average */
    uint64_t settled[2];   /* steps from which Adam's corrections are 1 */
    double *theta, *mean;  /* [n] each */
    /* [n] each, by the names of the kind; NULL: it has fewer, or of the other type. */
    double *state[DPI_OPTIMIZER_STATES];
    float *state_single[DPI_OPTIMIZER_STATES];
    double size, correct; /* of the step that has begun: its length, Adam's square */
    double weight;        /* of its iterate in the average; 0: none */
} dpi_optimizer;

/* A part of the parameters and what belongs to them. */
typedef struct dpi_slice {
    size_t n;
    const double *gradient;
    double *theta, *state[DPI_OPTIMIZER_STATES];
    float *state_single[DPI_OPTIMIZER_STATES];
} dpi_slice;

/* How parameters move: one row a kind, and nothing else asks which it is. */
struct dpi_rule {
    dp_optimizer optimizer;
    bool sizes_itself; /* step_size has a default: moves do not grow with the gradient */
    const char *state[DPI_OPTIMIZER_STATES]; /* names, at most 31 bytes; NULL: no more */
    bool squares[DPI_OPTIMIZER_STATES];      /* of gradients' numbers */
    /* Adjusts o->size, the scheduled length of the step that begins; NULL where it stays. */
    void (*begin)(dpi_optimizer *o);
    void (*move)(const dpi_optimizer *o, const dpi_slice *p);
    void (*move_single)(const dpi_optimizer *o, const dpi_slice *p); /* by floats */
};

/* The row of an optimiser; NULL for none. */
const dpi_rule *dpi_rule_of(dp_optimizer optimizer);

/* Takes resolved options (nothing zero that has a default).  Memory lives in the arena. */
dp_status dpi_optimizer_init(dpi_optimizer *o, dpi_arena *arena, size_t n, const dp_svi_opts *opts,
                             dp_error *err);

/* A step uphill in parts: of the parameters first ... first + n - 1 along gradient[n], for any
 * number of threads, after dpi_optimizer_begin; every parameter once, and then dpi_optimizer_end.
 * False when a parameter is no longer finite. */
void dpi_optimizer_begin(dpi_optimizer *o);
bool dpi_optimizer_move(const dpi_optimizer *o, size_t first, size_t n, const double *gradient);
void dpi_optimizer_end(dpi_optimizer *o);

/* Empties what is remembered, as before the first step. */
void dpi_optimizer_forget(dpi_optimizer *o);

/* What steps have made, as numbers that have a mean over owners who took them apart: parameters,
 * and what the kind remembers, of squares the roots.  `join` puts such a mean in their place, where
 * the parameters enter the average for the last `steps` steps. */
size_t dpi_optimizer_numbers(const dpi_optimizer *o);
void dpi_optimizer_tell(const dpi_optimizer *o, double *numbers);
void dpi_optimizer_join(dpi_optimizer *o, uint64_t steps, const double *numbers);

/* theta[n] enters the average for the last `steps` steps, which were taken apart. */
void dpi_optimizer_average(dpi_optimizer *o, uint64_t steps, const double *theta);

/* All that steps have made: "parameters", "average", and what the kind remembers.  Returns how
 * many, which the kind alone decides. */
size_t dpi_optimizer_vectors(const dpi_optimizer *o, dpi_state list[DPI_OPTIMIZER_VECTORS]);

/* The names of that list, for an optimiser that need not be known: none then. */
size_t dpi_optimizer_names(dp_optimizer optimizer, const char *name[DPI_OPTIMIZER_VECTORS]);

/* The averaged parameters, or the last ones when nothing is averaged. */
const double *dpi_optimizer_result(const dpi_optimizer *o);

#endif
