/* Everything that the parties of a few gates know, as columns of bits: what is drawn, what is
 * taken, and what gates are done with. */
#ifndef TESTS_SHARE_WATCH_H
#define TESTS_SHARE_WATCH_H

#include "tests/share/quiet.h"

enum {
    WATCH_N = 512, /* numbers in a run; arrays of gates are of these, or of several of them */
    WATCH_RUNS = 32,
    WATCH_SAMPLES = WATCH_N * WATCH_RUNS,
    WATCH_WORDS = WATCH_SAMPLES / 64
};

typedef enum watch_source { WATCH_HELD, WATCH_DRAWN, WATCH_TAKEN } watch_source;

/* A bit of a number, or one bit, of all runs: `share`, `array` and `bit` say which bit of which
 * array of which operand, `part` which of the parts of it that the role has. */
typedef struct watch_column {
    watch_source source;
    size_t gate, share, part, array, bit;
    bool of_masks; /* of u of to_bits, which is made of masks alone: who knows these knows it */
    uint64_t word[WATCH_WORDS];
} watch_column;

typedef struct watch_view {
    size_t n, at; /* at: the next one of this run */
    watch_column **column;
} watch_view;

/* What is run: a body that shares its numbers by watch_give, and gates. */
typedef struct watch {
    const dpi_share_row *row;
    void (*body)(dpi_party *p, void *user);
    void *user;
    quiet_draw without;
    /* What comes of it: views by role, and all that is drawn. */
    watch_view view[DPI_SHARE_PARTIES];
    quiet_draw *draw; /* each array of WATCH_N numbers or bits */
    size_t n_draws;
} watch;

/* WATCH_RUNS times, each with randomness of its own that follows from its number. */
void watch_run(watch *w);
void watch_forget(watch *w);

/* In a body: n numbers v, shared anew in each run. */
dpi_share watch_give(dpi_party *p, dpi_ring ring, size_t n, int64_t v, uint64_t seed);

#endif
