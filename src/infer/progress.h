/* How far a fit is, for who looks on: releases, transitions of chains, and how long they took.
 * NULL, and one without a watch, say nothing and stop nothing. */
#ifndef DPI_INFER_PROGRESS_H
#define DPI_INFER_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/infer.h>

/* What there will be.  Borrowed, but for itself. */
typedef struct dpi_progress_plan {
    const char *const *names; /* [n] of phases */
    const dp_mechanism *list; /* [n] their releases */
    size_t n;                 /* 0: without privacy */
    double delta;             /* for the epsilon of what is released */
    bool kept;                /* in a journal */
    size_t turns;             /* transitions of chains after the last release; 0: none */
} dpi_progress_plan;

enum { DPI_PROGRESS_PHASES = 16 };

typedef struct dpi_progress {
    dp_fit_watch *watch;
    void *user;
    dpi_progress_plan plan;
    uint64_t made[DPI_PROGRESS_PHASES]; /* releases of each phase */
    dp_fit_progress at;
    double began, told;   /* seconds */
    double walked, walks; /* seconds of walks between releases, and their transitions */
    double walk_began;
    double drawn_from; /* fraction at which draws began */
} dpi_progress;

void dpi_progress_init(dpi_progress *p, dp_fit_watch *watch, void *user);

/* Before the first release, where it says so.  DP_ESTOPPED, of all of these. */
dp_status dpi_progress_begin(dpi_progress *p, const dpi_progress_plan *plan,
                             dp_error *err) DP_MUST_CHECK;

/* A release of a phase has been made. */
dp_status dpi_progress_release(dpi_progress *p, size_t phase, dp_error *err) DP_MUST_CHECK;

/* Around a walk of so many transitions between releases: what draws will take. */
void dpi_progress_begin_walk(dpi_progress *p);
void dpi_progress_end_walk(dpi_progress *p, size_t turns);

/* Draws begin.  Then a part of them, 0 ... 1, is made; true: stop. */
void dpi_progress_draw(dpi_progress *p);
bool dpi_progress_moved(dpi_progress *p, double part);

/* DP_ESTOPPED, with words. */
dp_status dpi_progress_stopped(dp_error *err);

#endif
