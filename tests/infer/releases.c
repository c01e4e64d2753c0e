#include "tests/infer/releases.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "random/grid.h"
#include "svi/release.h"
#include "tests/lib/check.h"

enum { MOST = 4096 };

static release_seen seen[MOST];
static size_t n_seen, n_begun, n_steps, failing;
static bool repeats, fails;
static void (*watcher)(void *of, size_t k);
static void *watched;

dp_status __real_dpi_release_begin(dpi_release *r, dp_noise *source, dp_error *err);
dp_status __wrap_dpi_release_begin(dpi_release *r, dp_noise *source, dp_error *err);
void __real_dpi_grid_round(dpi_grid *g, size_t n, const double *steps, double worth, double *out);
void __wrap_dpi_grid_round(dpi_grid *g, size_t n, const double *steps, double worth, double *out);
void __real_dpi_release_end(dpi_release *r);
void __wrap_dpi_release_end(dpi_release *r);

static double *numbers(size_t n)
{
    double *x = calloc(n, sizeof *x);
    if (x == NULL)
        abort();
    return x;
}

dp_status __wrap_dpi_release_begin(dpi_release *r, dp_noise *source, dp_error *err)
{
    if (!r->noisy || r->quiet)
        return __real_dpi_release_begin(r, source, err);
    if (watcher != NULL)
        watcher(watched, n_begun);
    if (fails && n_begun == failing)
        return dpi_fail(err, DP_EENTROPY, "no entropy, by request");
    if (repeats && (n_begun >= n_seen || seen[n_begun].n != r->n || seen[n_begun].sd != r->sd))
        fail_msg("release %zu is of %zu numbers with noise %.17g, and was another", n_begun, r->n,
                 r->sd);
    if (!repeats) {
        assert_true(n_seen < MOST);
        seen[n_seen++] = (release_seen){.sd = r->sd,
                                        .rate = r->rate,
                                        .n = r->n,
                                        .steps = numbers(r->n),
                                        .again = numbers(r->n),
                                        .out = numbers(r->n)};
    }
    n_begun++;
    n_steps = 0;
    return __real_dpi_release_begin(r, source, err);
}

/* Parameters may be moved as soon as some numbers are there, so they are replaced here. */
void __wrap_dpi_grid_round(dpi_grid *g, size_t n, const double *steps, double worth, double *out)
{
    size_t which = repeats ? n_begun : n_seen;
    release_seen *mine = which > 0 ? &seen[which - 1] : NULL;
    __real_dpi_grid_round(g, n, steps, worth, out);
    if (mine != NULL && n_steps + n <= mine->n) {
        memcpy((repeats ? mine->again : mine->steps) + n_steps, steps, n * sizeof *steps);
        if (repeats)
            memcpy(out, mine->out + n_steps, n * sizeof *out);
        else
            memcpy(mine->out + n_steps, out, n * sizeof *out);
    }
    n_steps += n;
}

void __wrap_dpi_release_end(dpi_release *r)
{
    assert_true(!r->noisy || r->quiet || n_steps == r->n);
    __real_dpi_release_end(r);
}

void releases_forget(void)
{
    for (size_t k = 0; k < n_seen; k++) {
        free(seen[k].steps);
        free(seen[k].again);
        free(seen[k].out);
    }
    n_seen = n_begun = n_steps = 0;
    repeats = fails = false;
    watcher = NULL;
}

size_t releases_count(void)
{
    return n_begun;
}

const release_seen *releases_at(size_t k)
{
    assert_true(k < n_seen);
    return &seen[k];
}

void releases_repeat(void)
{
    repeats = true;
    n_begun = 0;
}

void releases_watch(void (*before)(void *of, size_t k), void *of)
{
    watcher = before;
    watched = of;
    n_begun = 0;
}

void releases_fail(size_t k)
{
    fails = true;
    failing = n_begun + k;
}
