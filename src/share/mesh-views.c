/* What several roles must have seen alike.
 *
 * Two rounds (mesh.h says why): a hash of everybody's tag, then the tags, whose sum must be zero.
 * Tags of one mesh never repeat, since each comparison has a number of its own in them. */
#include <string.h>

#include <sodium.h>

#include "base/bytes.h"
#include "base/error.h"
#include "share/mesh-parts.h"

typedef unsigned char mesh_hash[DPI_MESH_HASH];

void dpi_mesh_view(dpi_mesh *m, dpi_roles set, const void *bytes, size_t n)
{
    if (set >= DPI_MESH_SETS || (set >> m->role & 1) == 0 || !m->compares)
        dpi_misuse(__func__, "a role adds to views of its own, in a protocol that compares them");
    EVP_MD_CTX **h = &m->view[set];
    bool begins = *h == NULL;
    if (begins)
        *h = EVP_MD_CTX_new();
    if (*h == NULL || (begins && EVP_DigestInit_ex(*h, EVP_sha256(), NULL) != 1) ||
        EVP_DigestUpdate(*h, bytes, n) != 1)
        dpi_mesh_fail(m, DP_ENOMEM, "a view cannot be hashed: out of memory");
}

/* The hashes of all views so far; the next begin anew.  What was not seen is zeros. */
static void finish(dpi_mesh *m, mesh_hash view[DPI_MESH_SETS])
{
    memset(view, 0, sizeof(mesh_hash) * DPI_MESH_SETS);
    for (size_t set = 0; set < DPI_MESH_SETS; set++) {
        EVP_MD_CTX *h = m->view[set];
        if (h != NULL && (EVP_DigestFinal_ex(h, view[set], NULL) != 1 ||
                          EVP_DigestInit_ex(h, EVP_sha256(), NULL) != 1))
            dpi_mesh_fail(m, DP_ENOMEM, "a view cannot be hashed: out of memory");
    }
}

/* tag += a hash of the views that this role and another have in common. */
static void add_common(const dpi_mesh *m, size_t j, mesh_hash view[DPI_MESH_SETS], mesh_hash tag)
{
    crypto_generichash_state h;
    mesh_hash common;
    unsigned char number[sizeof m->compared];
    dpi_put_number(number, m->compared);
    (void)crypto_generichash_init(&h, m->link[j].key, DPI_MESH_HASH, DPI_MESH_HASH);
    (void)crypto_generichash_update(&h, number, sizeof number);
    for (size_t set = 0; set < DPI_MESH_SETS; set++)
        if ((set >> m->role & 1) != 0 && (set >> j & 1) != 0)
            (void)crypto_generichash_update(&h, view[set], DPI_MESH_HASH);
    (void)crypto_generichash_final(&h, common, sizeof common);
    for (size_t i = 0; i < DPI_MESH_HASH; i++)
        tag[i] ^= common[i];
    sodium_memzero(&h, sizeof h);
}

/* Tells all others the same, and hears what each says. */
static void exchange(dpi_mesh *m, dpi_mesh_kind kind, const mesh_hash own,
                     mesh_hash heard[DPI_SHARE_PARTIES])
{
    for (size_t j = 0; j < m->parties; j++)
        if (j != m->role)
            dpi_mesh_send(m, kind, j, own, DPI_MESH_HASH);
    for (size_t j = 0; j < m->parties; j++)
        if (j != m->role)
            dpi_mesh_receive(m, kind, j, heard[j], DPI_MESH_HASH);
}

/* Of which it tells the hash first.  The sender is in it, so that nobody can tell another's. */
static void hide(size_t role, const mesh_hash tag, mesh_hash hidden)
{
    const unsigned char key[crypto_generichash_KEYBYTES] = {(unsigned char)role, 1};
    (void)crypto_generichash(hidden, DPI_MESH_HASH, tag, DPI_MESH_HASH, key, sizeof key);
}

dp_status dpi_mesh_verify(dpi_mesh *m)
{
    mesh_hash view[DPI_MESH_SETS], tag = {0}, hidden, sum = {0}, zero = {0};
    mesh_hash hashes[DPI_SHARE_PARTIES], tags[DPI_SHARE_PARTIES];
    dpi_mesh_flush(m);
    if (!m->compares || m->err.status != DP_OK)
        return m->err.status;
    finish(m, view);
    for (size_t j = 0; j < m->parties; j++)
        if (j != m->role)
            add_common(m, j, view, tag);
    m->compared++;
    hide(m->role, tag, hidden);
    exchange(m, DPI_MESH_DIGEST, hidden, hashes);
    exchange(m, DPI_MESH_TAG, tag, tags);
    bool good = m->err.status == DP_OK;
    memcpy(sum, tag, sizeof sum);
    for (size_t j = 0; j < m->parties && good; j++) {
        if (j == m->role)
            continue;
        hide(j, tags[j], hidden);
        good = sodium_memcmp(hidden, hashes[j], sizeof hidden) == 0;
        for (size_t i = 0; i < DPI_MESH_HASH; i++)
            sum[i] ^= tags[j][i];
    }
    if (!good || sodium_memcmp(sum, zero, sizeof zero) != 0)
        dpi_mesh_fail(m, DP_EPEER, "the parties have not seen the same: one of them cheats");
    dpi_mesh_flush(m);
    return m->err.status;
}
