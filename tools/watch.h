/* Who looks on at a fit: one line on a terminal that says how far it is, nothing in a pipe; and a
 * signal that ends it in order. */
#ifndef TOOLS_WATCH_H
#define TOOLS_WATCH_H

#include <stdbool.h>

#include <tacit/infer.h>

typedef struct watch {
    const char *command; /* in front of the line */
    bool shown;          /* standard error is a terminal */
    bool drawn;          /* the line stands there */
    bool warned;         /* that what is stopped is lost */
    double began, told;  /* seconds */
    dp_fit_progress last;
} watch;

/* From here on SIGINT, SIGTERM and SIGHUP, where they are not ignored, stop the fit behind its next
 * release; a second one ends the process at once. */
void watch_begin(watch *w, const char *command);

/* A dp_fit_watch; user is the watch.  An interrupt from the keyboard of what could not go on later
 * is asked for twice. */
int watch_look(void *user, const dp_fit_progress *at);

/* Takes the line away; signals are as before. */
void watch_end(watch *w);

/* The signal that came, or 0. */
int watch_signal(void);

#endif
