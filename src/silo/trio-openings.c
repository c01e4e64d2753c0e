/* A party's piece of an opened number is its first part: P1 tells m to P0, and P0 lambda to all.
 *
 *   keep the piece   all say so   keep that it may leave   all say so   tell it
 *
 * Who hears the first word knows that all have pieces that belong together; who hears the second,
 * that the two others know it, whatever a third one may have forgotten when it comes again. */
#include "silo/trio-openings.h"

#include <string.h>

enum { EVERYBODY = (1 << DPI_TRIO_ROLES) - 1 };

/* Coefficients: each block to its owner, all to owners of rows, or all to all. */
static void open_coefficients(const dpi_silo_trio_opts *o, const dpi_share *w, int64_t *told)
{
    const dpi_silo_trio_terms *t = o->terms;
    const size_t role = o->party->role;
    dpi_roles owners = 0;
    for (size_t k = 0; k < DPI_TRIO_ROLES; k++)
        owners |= t->rows_of[k] > 0 ? 1U << k : 0;
    const bool once = t->told || owners != 0;
    for (size_t k = 0; k < (once ? 1 : DPI_TRIO_ROLES); k++) {
        const size_t first = once ? 0 : o->grid->first[k], n = once ? o->grid->d : t->columns[k];
        const dpi_roles to = t->told ? EVERYBODY : owners != 0 ? owners : 1U << k;
        const dpi_share block = dpi_share_from(DPI_RING_64, w, first, n);
        if (n > 0)
            dpi_trio_open(o->party, to, &block, (to >> role & 1) != 0 ? told + first : NULL);
    }
}

static bool is_well(const dpi_silo_trio_opts *o)
{
    return dpi_mesh_status(o->party->mesh) == DP_OK;
}

/* Waits until both others have said the same; false: the mesh knows why not. */
static bool all_say_so(const dpi_silo_trio_opts *o)
{
    const size_t role = o->party->role;
    unsigned char word[sizeof(uint64_t)] = {0};
    for (size_t k = 0; k < DPI_TRIO_ROLES; k++)
        if (k != role) {
            memcpy(dpi_mesh_room(o->party->mesh, k, sizeof word), word, sizeof word);
            dpi_mesh_post(o->party->mesh, k);
        }
    for (size_t k = 0; k < DPI_TRIO_ROLES; k++)
        if (k != role)
            dpi_mesh_take(o->party->mesh, k, word, sizeof word);
    return is_well(o);
}

static dp_status begin(dpi_trio_opener *s, dp_error *err)
{
    dp_status status = s->asked || s->o->begin == NULL ? DP_OK : s->o->begin(s->o->of, err);
    s->asked = status == DP_OK;
    return status;
}

/* This party is ready.  When the others have heard it they may open the sum, whatever becomes of
 * it. */
static dp_status open_pieces(const dpi_silo_trio_opts *o, const dpi_share *x, int64_t *h,
                             dp_error *err)
{
    const bool noisy = o->terms->z > 0;
    if (o->begun != NULL)
        *o->begun = true;
    if (!all_say_so(o))
        return DP_OK;
    dp_status status = o->state != NULL ? dpi_trio_state_opening(o->state, err) : DP_OK;
    if (status != DP_OK || !all_say_so(o))
        return status;
    if (noisy)
        dpi_trio_open(o->party, EVERYBODY, x, h);
    else
        open_coefficients(o, x, h);
    return noisy && o->state != NULL && is_well(o) ? dpi_trio_state_opened(o->state, h, err)
                                                   : DP_OK;
}

dp_status dpi_trio_open_sum(dpi_trio_opener *s, uint64_t step, const int64_t *w, const dpi_share *x,
                            int64_t *h, dp_error *err)
{
    const dpi_silo_trio_opts *o = s->o;
    dp_status status = begin(s, err);
    if (status == DP_OK && is_well(o) && o->state != NULL)
        status = dpi_trio_state_ready(o->state, step, w, x->part[0], err);
    return status == DP_OK && is_well(o) ? open_pieces(o, x, h, err) : status;
}

dp_status dpi_trio_open_again(dpi_trio_opener *s, const dpi_share *x, int64_t *h, bool *is_news,
                              dp_error *err)
{
    *is_news = false;
    if (!dpi_trio_state_opens_again(s->o->state))
        return DP_OK;
    const bool lacks = dpi_trio_state_piece(s->o->state, x->part[0]);
    dp_status status = begin(s, err);
    if (status == DP_OK)
        status = open_pieces(s->o, x, h, err);
    *is_news = status == DP_OK && lacks;
    return status;
}

dp_status dpi_trio_open_end(dpi_trio_opener *s, const int64_t *w, dp_error *err)
{
    dpi_trio_state *state = s->o->state;
    dp_status status = state != NULL ? dpi_trio_state_over(state, w, err) : DP_OK;
    if (status == DP_OK && all_say_so(s->o) && state != NULL)
        status = dpi_trio_state_close(state, err);
    return status;
}
