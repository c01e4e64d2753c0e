/* Lines of a fit by the loop; they cost nothing.
 *
 *   method       always bad: which method, what kept the better one away, what it leaves out
 *   convergence  how far the guide's means went between the last two eighths of the steps, in its
 *                standard deviations; above 1 the noise or the way is wider than the intervals are
 *   owners       bad where they took several steps by themselves before anything was opened
 *   delta        as of a fit by rounds, only where it is bad */
#include "infer/loop-report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double most_drift = 1;
enum { MOST_WHY = 180 };

/* So many bytes of a text at most, whole characters of UTF-8. */
static int length_of(const char *text, size_t most)
{
    size_t n = strlen(text);
    for (n = n < most ? n : most; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
        n--;
    return (int)n;
}

static void add(dpi_loop_report *to, dp_diagnostic d)
{
    d.words = to->words[to->n];
    to->list[to->n++] = d;
}

static void say_method(const dpi_loop_found *found, dpi_loop_report *to)
{
    (void)snprintf(to->words[to->n], sizeof to->words[0],
                   "fitted by %sgradient steps, since %.*s: intervals count no correlations%s, "
                   "and are too narrow; rely on the middle more than on the width, and fit "
                   "invented records to see how far off both are",
                   found->noisy ? "noisy " : "", length_of(found->why, MOST_WHY), found->why,
                   found->noisy ? " and no noise of privacy" : "");
    add(to, (dp_diagnostic){.name = "method", .value = 1, .limit = 1, .bad = true});
}

static void say_convergence(const dpi_loop_found *found, dpi_loop_report *to)
{
    bool bad = !(found->drift < most_drift);
    if (isnan(found->drift))
        return;
    (void)snprintf(to->words[to->n], sizeof to->words[0],
                   bad ? "at the end the steps still moved by %.1f standard deviations of the "
                         "guide: they had not arrived, or noise moved them; more records or a "
                         "larger epsilon, a prior that is nearer, or scaled columns would help"
                       : "at the end the steps moved by %.1f standard deviations of the guide",
                   found->drift);
    add(to, (dp_diagnostic){
                .name = "convergence", .value = found->drift, .limit = most_drift, .bad = bad});
}

static void say_owners(const dpi_loop_found *found, dpi_loop_report *to)
{
    const double steps = (double)found->local_steps;
    if (found->local_steps < 2 && !found->factors)
        return;
    if (found->factors)
        (void)snprintf(
            to->words[to->n], sizeof to->words[0],
            "each owner took %.0f steps by itself between two openings%s: the answer is "
            "further from that of all records together than sums of each step (secagg+dp)",
            steps, found->noisy ? ", with noise of its own" : "");
    else
        (void)snprintf(to->words[to->n], sizeof to->words[0],
                       "each owner took %.0f steps by itself between two means of all: where their "
                       "records differ this is not the answer of all records together; fewer such "
                       "steps, or sums of each step, come nearer",
                       steps);
    add(to, (dp_diagnostic){.name = "owners", .value = steps, .limit = 1, .bad = true});
}

static void say_delta(const dpi_loop_found *found, dpi_loop_report *to)
{
    if (!found->noisy || found->delta < 1)
        return;
    (void)snprintf(to->words[to->n], sizeof to->words[0],
                   "delta is at least %.2g times one over the number of records: so large a delta "
                   "allows to publish whole records; ask for one far below that",
                   found->delta);
    add(to, (dp_diagnostic){.name = "delta", .value = found->delta, .limit = 1, .bad = true});
}

void dpi_loop_say(const dpi_loop_found *found, dpi_loop_report *to)
{
    to->n = 0;
    say_method(found, to);
    say_convergence(found, to);
    say_owners(found, to);
    say_delta(found, to);
}
