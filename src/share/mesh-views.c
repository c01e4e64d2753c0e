/* What several roles must have seen alike.
 *
 * A view is hashed for each other role of its set under a key that only the two have, by GMAC:
 * whoever can make them see different things does not know the key, so that a universal hash does,
 * at 8 GB/s where SHA-256 has 1.8; L blocks that differ have one hash with probability
 * L / 2^128.  The hashes are not shown: a keyed BLAKE2b of them all is what two roles have in
 * common.  Then two rounds (mesh.h says why): a hash of everybody's tag, and the tags, whose sum
 * must be zero.  Tags of one mesh never repeat, since each comparison has a number of its own in
 * them. */
#include <string.h>

#include <sodium.h>

#include "base/bytes.h"
#include "base/error.h"
#include "share/mesh-parts.h"

enum { KEY = 16, TAG = 16, NONCE = 12, PIECE = 1 << 14 /* bytes: they stay in the cache */ };

typedef unsigned char mesh_hash[DPI_MESH_HASH];

static bool has(size_t set, size_t role)
{
    return (set >> role & 1) != 0;
}

/* ---- views ---- */

static void fail(dpi_mesh *m)
{
    dpi_mesh_fail(m, DP_ENOMEM, "a view cannot be hashed: out of memory");
}

/* A hash for another role, with its key and without a nonce; NULL when memory is out. */
static EVP_CIPHER_CTX *hash_new(const dpi_mesh *m, size_t set, size_t j)
{
    const unsigned char name[] = {'v', (unsigned char)set};
    unsigned char key[KEY];
    EVP_CIPHER_CTX *h = EVP_CIPHER_CTX_new();
    if (h == NULL)
        return NULL;
    (void)crypto_generichash(key, sizeof key, name, sizeof name, m->link[j].key, DPI_MESH_HASH);
    bool good = EVP_EncryptInit_ex(h, EVP_aes_128_gcm(), NULL, key, NULL) == 1;
    sodium_memzero(key, sizeof key);
    if (good)
        return h;
    EVP_CIPHER_CTX_free(h);
    return NULL;
}

/* The nonce is the comparison's number. */
static bool begin(dpi_mesh *m, size_t set)
{
    dpi_mesh_seen *v = &m->seen[set];
    unsigned char nonce[NONCE] = {0};
    dpi_put_number(nonce, m->compared);
    for (size_t j = 0; j < m->parties; j++) {
        if (j == m->role || !has(set, j))
            continue;
        if (v->hash[j] == NULL)
            v->hash[j] = hash_new(m, set, j);
        if (v->hash[j] == NULL || EVP_EncryptInit_ex(v->hash[j], NULL, NULL, NULL, nonce) != 1)
            return false;
    }
    v->begun = true;
    return true;
}

static bool add(dpi_mesh *m, size_t set, const unsigned char *bytes, int n)
{
    int none;
    for (size_t j = 0; j < m->parties; j++)
        if (j != m->role && has(set, j) &&
            EVP_EncryptUpdate(m->seen[set].hash[j], NULL, &none, bytes, n) != 1)
            return false;
    return true;
}

void dpi_mesh_view(dpi_mesh *m, dpi_roles set, const void *bytes, size_t n)
{
    if (set >= DPI_MESH_SETS || !has(set, m->role) || !m->compares)
        dpi_misuse(__func__, "a role adds to views of its own, in a protocol that compares them");
    bool good = m->seen[set].begun || begin(m, set);
    for (size_t at = 0; good && at < n; at += PIECE)
        good =
            add(m, set, (const unsigned char *)bytes + at, (int)(n - at < PIECE ? n - at : PIECE));
    if (!good)
        fail(m);
}

void dpi_mesh_views_free(dpi_mesh *m)
{
    for (size_t set = 0; set < DPI_MESH_SETS; set++)
        for (size_t j = 0; j < DPI_SHARE_PARTIES; j++)
            EVP_CIPHER_CTX_free(m->seen[set].hash[j]); /* which wipes the key */
}

/* ---- comparisons ---- */

/* The hash of a view so far, for another role; zeros where nothing was seen. */
static void finish(dpi_mesh *m, size_t set, size_t j, unsigned char to[TAG])
{
    EVP_CIPHER_CTX *h = m->seen[set].hash[j];
    unsigned char nothing[TAG];
    int none;
    memset(to, 0, TAG);
    if (m->seen[set].begun && (EVP_EncryptFinal_ex(h, nothing, &none) != 1 ||
                               EVP_CIPHER_CTX_ctrl(h, EVP_CTRL_GCM_GET_TAG, TAG, to) != 1))
        fail(m);
}

/* tag += a hash of the views that this role and another have in common. */
static void add_common(dpi_mesh *m, size_t j, mesh_hash tag)
{
    crypto_generichash_state h;
    mesh_hash common;
    unsigned char number[sizeof m->compared], view[TAG];
    dpi_put_number(number, m->compared);
    (void)crypto_generichash_init(&h, m->link[j].key, DPI_MESH_HASH, DPI_MESH_HASH);
    (void)crypto_generichash_update(&h, number, sizeof number);
    for (size_t set = 0; set < DPI_MESH_SETS; set++) {
        if (!has(set, m->role) || !has(set, j))
            continue;
        finish(m, set, j, view);
        (void)crypto_generichash_update(&h, view, sizeof view);
    }
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
    mesh_hash tag = {0}, hidden, sum = {0}, zero = {0};
    mesh_hash hashes[DPI_SHARE_PARTIES], tags[DPI_SHARE_PARTIES];
    dpi_mesh_flush(m);
    if (!m->compares || m->err.status != DP_OK)
        return m->err.status;
    for (size_t j = 0; j < m->parties; j++)
        if (j != m->role)
            add_common(m, j, tag);
    for (size_t set = 0; set < DPI_MESH_SETS; set++)
        m->seen[set].begun = false;
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
