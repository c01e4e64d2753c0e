/* The life of a mesh, and its errors. */
#include "share/mesh.h"

#include <string.h>

#include <sodium.h>

#include "base/alloc.h"
#include "base/error.h"
#include "share/mesh-parts.h"

/* ---- errors ---- */

dp_status dpi_mesh_status(const dpi_mesh *m)
{
    return m->err.status;
}

const dp_error *dpi_mesh_error(const dpi_mesh *m)
{
    return &m->err;
}

/* The others are told nothing but that this party is gone: what went wrong can depend on
 * secrets. */
void dpi_mesh_fail(dpi_mesh *m, dp_status status, const char *why)
{
    (void)dpi_fail(&m->err, status, "%s", why);
    for (size_t j = 0; j < m->parties; j++) {
        if (m->link[j].both.session == NULL)
            continue;
        dpi_wire_both_end(&m->link[j].both);
        dpi_wire_cut(m->link[j].both.session);
    }
}

/* ---- life ---- */

static void drop(dpi_mesh_queue *q)
{
    for (dpi_mesh_block *b; (b = dpi_mesh_queue_take(q)) != NULL; dpi_free(b))
        sodium_memzero(dpi_mesh_bytes(b), b->n);
}

void dpi_mesh_free(dpi_mesh *m)
{
    if (m == NULL)
        return;
    for (size_t j = 0; j < DPI_SHARE_PARTIES; j++) {
        dpi_mesh_link *l = &m->link[j];
        dpi_wire_close(l->both.session);
        drop(&l->out);
        drop(&l->tape);
        dpi_free(l->filling);
        sodium_memzero(l->key, sizeof l->key);
    }
    for (size_t k = 0; k < DPI_MESH_CLASSES; k++)
        for (dpi_mesh_block *b; (b = m->spare[k]) != NULL; dpi_free(b))
            m->spare[k] = b->next;
    dpi_mesh_views_free(m);
    dpi_mesh_forget(m);
    dpi_free(m->sink);
    dpi_free(m);
}

/* A mesh that has its links, or they are closed. */
static dpi_mesh *make(const dpi_mesh_opts *o)
{
    dpi_mesh *m = dpi_alloc(1, sizeof *m);
    if (m == NULL) {
        for (size_t j = 0; j < o->parties; j++)
            dpi_wire_close(o->link[j]);
        return NULL;
    }
    m->parties = o->parties;
    m->role = o->role;
    m->compares = o->compares;
    m->timeout = o->timeout;
    m->tamper = o->tamper;
    m->user = o->user;
    for (size_t j = 0; j < o->parties; j++)
        m->link[j].both = (dpi_wire_both){.session = o->link[j], .wake = -1};
    m->sink = dpi_mesh_block_new(m, DPI_MESH_MOST);
    if (m->sink != NULL)
        return m;
    dpi_mesh_free(m);
    return NULL;
}

static void check(const dpi_mesh_opts *o)
{
    bool good = o->parties >= 2 && o->parties <= DPI_SHARE_PARTIES && o->role < o->parties;
    for (size_t j = 0; good && j < o->parties; j++)
        good = (o->link[j] == NULL) == (j == o->role);
    for (size_t s = 0; good && s < o->n_sets; s++)
        good = o->sets[s] >> o->parties == 0 && (o->sets[s] & (o->sets[s] - 1)) != 0;
    if (!good)
        dpi_misuse(__func__, "a mesh has a link to each other role and sets of two or more");
}

dp_status dpi_mesh_new(const dpi_mesh_opts *o, dpi_mesh **mesh, dp_error *err)
{
    *mesh = NULL;
    check(o);
    dpi_mesh *m = make(o);
    if (m == NULL)
        return dpi_fail_nomem(err);
    dpi_mesh_agree(m, o);
    dp_status status = m->err.status;
    if (status == DP_OK) {
        *mesh = m;
        return DP_OK;
    }
    (void)dpi_fail(err, status, "%s", m->err.text);
    dpi_mesh_free(m);
    return status;
}

/* ---- counts ---- */

void dpi_mesh_preparing(dpi_mesh *m, bool preparing)
{
    m->preparing = preparing;
}

dpi_mesh_traffic dpi_mesh_counts(const dpi_mesh *m)
{
    return m->traffic;
}
