/* A thread that works ahead for the next query while a session waits. */
#ifndef DPI_SERVE_AHEAD_H
#define DPI_SERVE_AHEAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct dpi_ahead {
    bool (*work)(void *user);  /* a little of it; false when there is none left */
    void (*later)(void *user); /* may be NULL */
    uint32_t pause;            /* ms */
    void *user;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t woken;
    bool awake, ends, runs;
} dpi_ahead;

/* Begins to work.  Without a thread nothing is made ahead, which is slower and no error. */
void dpi_ahead_start(dpi_ahead *a, bool (*work)(void *user), void *user);

/* Also calls `later`, once after each wake, when there has been no work nor wake for `pause` ms. */
void dpi_ahead_start_later(dpi_ahead *a, bool (*work)(void *user), void (*later)(void *user),
                           uint32_t pause, void *user);

/* Says that there is work again. */
void dpi_ahead_wake(dpi_ahead *a);

/* Ends the thread, if there is one. */
void dpi_ahead_end(dpi_ahead *a);

#endif
