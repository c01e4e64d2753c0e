/* What a program is inside.
 *
 * Invariants: stage 0 is the input; a stage reads earlier ones, of the number and the shapes that
 * its kind takes; a fixed program has integers for all weights, or is that of a sheet and has none
 * at all. */
#ifndef DPI_PROGRAM_PROGRAM_H
#define DPI_PROGRAM_PROGRAM_H

#include <tacit/program.h>

#include "base/alloc.h"
#include "base/error.h"

enum {
    DPI_PROGRAM_STAGES = 1000,
    DPI_WINDOW_SIDE = 4096,
    DPI_PROGRAM_MOST_BITS = 62, /* of numbers of stages: sums of two still fit in 64 */
    DPI_PROGRAM_WEIGHT_BITS = 30
};

/* Most numbers of a stage, and most weights of all stages. */
#define DPI_PROGRAM_SIZE ((size_t)1 << 24)
#define DPI_PROGRAM_WEIGHTS ((size_t)1 << 28)

struct dp_program {
    dpi_arena arena;
    dp_error err;
    dp_stage *stages;
    size_t n_stages, room;
    size_t n_weights;           /* of all stages */
    dp_program_number common;   /* what the numbers of the input are that are not declared */
    dp_program_number *numbers; /* [inputs], or NULL: none is declared */
    dp_link link;
    size_t draws;
    bool fixed, sheet;
    int64_t **low, **high; /* [n_stages][size] of a fixed program that is no sheet: bounds */
};

/* Adds a stage of draft->kind with draft->in, window and, for a dense stage or a convolution,
 * draft->n_bias outputs; weights (nullable, where a sheet is read) are copied.  The stage's number,
 * or -1 and the sticky error. */
int dpi_program_add(dp_program *p, const dp_stage *draft, const double *weights,
                    const double *bias);

/* Whether a number of the input makes sense, else the sticky error; and a copy with its texts. */
bool dpi_number_good(dp_program *p, const dp_program_number *number);
void dpi_number_copy(dp_program *p, const dp_program_number *from, dp_program_number *to);

/* The stage "stage 3 (convolution)" in words. */
enum { DPI_STAGE_WORDS = 64 };
const char *dpi_stage_words(const dp_program *p, size_t k, char words[DPI_STAGE_WORDS]);

/* Least e with |x| <= 2^e; 0 for x = 0. */
int dpi_exponent(double x);

/* Bits of |x|: least e with |x| < 2^e. */
int dpi_bits(int64_t x);

/* What the integers of stage k lie between, low[size] and high[size], from the same of the stages
 * that it reads.  False when one needs more than DPI_PROGRAM_MOST_BITS. */
bool dpi_program_range(const dp_program *p, size_t k, int64_t *low, int64_t *high);

/* dp_stage_run_exact, of a stage whose integers are made in a program that may not be fixed yet. */
void dpi_stage_run(const dp_program *p, size_t k, const int64_t *a, const int64_t *b, int64_t *y);

/* floor((v + 2^(shift-1)) / 2^shift); v itself where shift is 0. */
int64_t dpi_round_shift(int64_t v, int shift);

/* The sigmoid's table: an integer of fraction DPI_KNOT_FRACTION to one of DPI_TABLE_FRACTION. */
enum { DPI_KNOT_FRACTION = 10, DPI_TABLE_FRACTION = 14 };
int64_t dpi_sigmoid_table(int64_t x);

/* x of a fraction to DPI_KNOT_FRACTION, by a rounding shift (negative: up), cut at +-2^20. */
int64_t dpi_to_knots(int64_t x, int shift);

#endif
