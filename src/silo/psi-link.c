/* Intersection of ids by exponents in ristretto255: what is swapped.
 *
 * Four messages each way; as letters each side sends before it waits.  The last one has a hash of
 * the common tokens: where one side returned other tokens than it should, the two do not come to
 * the same rows, and neither uses them. */
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "silo/psi.h"

typedef struct psi_line {
    const dpi_psi_way *way;
    size_t most; /* ids of the peer */
} psi_line;

static dp_status swap(const psi_line *l, const char *name, size_t n, const unsigned char *own,
                      size_t m, unsigned char *others, dp_error *err)
{
    return l->way->swap(l->way->of, name, n, own, m, others, err);
}

static dp_status swap_counts(const psi_line *l, size_t count, size_t *others, dp_error *err)
{
    unsigned char here[8], there[8] = {0};
    dpi_put_number(here, count);
    dp_status status = swap(l, "psi.n", sizeof here, here, sizeof there, there, err);
    const uint64_t n = dpi_get_number(there);
    if (status == DP_OK && n > l->most)
        status =
            dpi_fail(err, DP_EPEER,
                     "the other owner asks about %llu ids, where %zu were agreed upon; nothing "
                     "is told of them: agree on more records, or ask what its list is",
                     (unsigned long long)n, l->most);
    *others = status == DP_OK ? (size_t)n : 0;
    return status;
}

static dp_status compare_prints(const psi_line *l, const unsigned char print[32], dp_error *err)
{
    unsigned char theirs[32] = {0};
    dp_status status = swap(l, "psi.h", 32, print, 32, theirs, err);
    if (status == DP_OK && memcmp(print, theirs, 32) != 0)
        status = dpi_fail(err, DP_EPEER,
                          "the two owners have not come to the same rows: one of them raised other "
                          "points than it was sent");
    return status;
}

/* points, tokens: room for the other's; returned: for those of one's own. */
static dp_status link_over(const psi_line *l, dpi_psi *psi, size_t *common, size_t *rows,
                           dp_error *err)
{
    size_t count, others = 0;
    const unsigned char *own = dpi_psi_points(psi, &count);
    dp_status status = swap_counts(l, count, &others, err);
    if (status != DP_OK)
        return status;
    unsigned char print[32], *points = dpi_alloc(others, DPI_PSI_POINT);
    unsigned char *tokens = dpi_alloc(others, DPI_PSI_POINT);
    unsigned char *returned = dpi_alloc(count, DPI_PSI_POINT);
    if (points == NULL || tokens == NULL || returned == NULL)
        status = dpi_fail_nomem(err);
    if (status == DP_OK)
        status = swap(l, "psi.p", count * DPI_PSI_POINT, own, others * DPI_PSI_POINT, points, err);
    if (status == DP_OK)
        status = dpi_psi_raise(psi, others, points, tokens, err);
    if (status == DP_OK)
        status =
            swap(l, "psi.t", others * DPI_PSI_POINT, tokens, count * DPI_PSI_POINT, returned, err);
    if (status == DP_OK)
        status = dpi_psi_match(psi, returned, common, rows, print, err);
    if (status == DP_OK)
        status = compare_prints(l, print, err);
    dpi_free(points);
    dpi_free(tokens);
    dpi_free(returned);
    return status;
}

dp_status dpi_psi_link_by(const dpi_psi_way *way, const dpi_psi_opts *opts, size_t n,
                          const char *const *ids, size_t *common, size_t *rows, dp_error *err)
{
    *common = 0;
    const size_t most = opts->most > 0 && opts->most < DPI_PSI_MOST ? opts->most : DPI_PSI_MOST;
    const psi_line l = {way, most};
    dpi_psi *psi = NULL;
    dp_status status = dpi_psi_new(opts, n, ids, &psi, err);
    if (status == DP_OK)
        status = link_over(&l, psi, common, rows, err);
    dpi_psi_free(psi);
    if (status != DP_OK) {
        memset(rows, 0, n * sizeof *rows);
        *common = 0;
    }
    return status;
}

/* ---- by letters ---- */

typedef struct psi_letters {
    dpi_post *post;
    size_t peer;
    uint64_t round;
    uint32_t attempt;
} psi_letters;

static dp_status swap_letters(void *of, const char *name, size_t n, const unsigned char *own,
                              size_t m, unsigned char *others, dp_error *err)
{
    const psi_letters *l = of;
    dp_status status = dpi_post_send(l->post, l->peer, l->round, l->attempt, name, n, own, err);
    if (status == DP_OK)
        status = dpi_post_receive(l->post, l->peer, l->round, l->attempt, name, 0, m, others, err);
    return status;
}

dp_status dpi_psi_link(dpi_post *post, size_t peer, uint64_t round, uint32_t attempt,
                       const dpi_psi_opts *opts, size_t n, const char *const *ids, size_t *common,
                       size_t *rows, dp_error *err)
{
    psi_letters letters = {post, peer, round, attempt};
    const dpi_psi_way way = {swap_letters, &letters};
    dpi_psi_opts o = *opts;
    dpi_post_pair_key(post, peer, "psi", o.key);
    dp_status status = dpi_psi_link_by(&way, &o, n, ids, common, rows, err);
    sodium_memzero(o.key, sizeof o.key);
    return status;
}
