/* The line, and signals.  A handler only notes which one came; the fit asks between releases. */
#define _XOPEN_SOURCE 700
#include "tools/watch.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 20, LINE = 100, MOST = 300 };

static const double interval = 0.1;          /* seconds between lines */
static const double soon = 1, little = 0.02; /* no guess before, in seconds and parts */
static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static volatile sig_atomic_t came;

static void on_signal(int number)
{
    came = number;
}

/* Or lets them do what they do by themselves. */
static void catch_signals(bool mine)
{
    struct sigaction was;
    struct sigaction action = {.sa_handler = mine ? on_signal : SIG_DFL};
    if (mine)
        action.sa_flags = (int)SA_RESETHAND;
    (void)sigemptyset(&action.sa_mask);
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++)
        if (sigaction(signals[k], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
            (void)sigaction(signals[k], &action, NULL);
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void watch_begin(watch *w, const char *command)
{
    *w = (watch){.command = command, .shown = isatty(STDERR_FILENO) == 1, .began = now()};
    came = 0;
    catch_signals(true);
}

static void clear(watch *w)
{
    if (w->drawn)
        (void)fprintf(stderr, "\r%*s\r", LINE - 1, "");
    w->drawn = false;
}

/* " 12 s", " 3 min", " 2 h": as much as a guess is worth. */
static void write_time(char *to, size_t room, double seconds)
{
    const char *unit = seconds < 99.5 ? "s" : seconds < 5970 ? "min" : "h";
    double by = seconds < 99.5 ? 1 : seconds < 5970 ? 60 : 3600;
    (void)snprintf(to, room, ", about %.0f %s left", fmax(ceil(seconds / by), 1), unit);
}

static void draw(watch *w, const dp_fit_progress *at, double time)
{
    char bar[BAR + 1], left[40] = "", what[100];
    double took = time - w->began;
    int full = (int)(at->fraction * BAR);
    if (w->drawn && time - w->told < interval)
        return;
    for (int k = 0; k < BAR; k++)
        bar[k] = k < full ? '#' : '.';
    bar[BAR] = '\0';
    if (took > soon && at->fraction > little)
        write_time(left, sizeof left, took * (1 - at->fraction) / at->fraction);
    if (at->planned > 0 && at->made < at->planned)
        (void)snprintf(what, sizeof what, "%.20s, release %llu of %llu", at->phase,
                       (unsigned long long)at->made, (unsigned long long)at->planned);
    else
        (void)snprintf(what, sizeof what, "%.20s", at->phase);
    char line[MOST];
    (void)snprintf(line, sizeof line, "tacit %s: [%s] %3.0f %%  %s%s", w->command, bar,
                   floor(100 * at->fraction), what, left);
    (void)fprintf(stderr, "\r%-*.*s", LINE - 1, LINE - 1, line);
    w->drawn = true;
    w->told = time;
}

/* Whether the signal that came ends the fit. */
static bool ends(watch *w, const dp_fit_progress *at)
{
    if (came != SIGINT || at->kept || at->made == 0 || w->warned)
        return came != 0;
    clear(w);
    (void)fprintf(stderr,
                  "tacit %s: %llu of %llu releases are made and paid for, and cannot be gone on "
                  "with later; interrupt once more to give them up\n",
                  w->command, (unsigned long long)at->made, (unsigned long long)at->planned);
    w->warned = true;
    came = 0;
    catch_signals(true);
    return false;
}

int watch_look(void *user, const dp_fit_progress *at)
{
    watch *w = user;
    w->last = *at;
    if (ends(w, at))
        return 1;
    if (w->shown)
        draw(w, at, now());
    return 0;
}

void watch_end(watch *w)
{
    clear(w);
    catch_signals(false);
}

int watch_signal(void)
{
    return came;
}
