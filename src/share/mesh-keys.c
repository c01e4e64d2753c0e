/* The randomness that roles have in common.
 *
 * The secret of two is 32 bytes of their TLS session's exporter.  The secret of three is 32 bytes
 * from each, told to the other two, of which all know the sum total: who speaks last can choose
 * among hashes, but knows them anyway, being in the set.  The key is a hash of secret, set and
 * context; a second hash of the same is what two roles compare, for all sets that have both. */
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "base/alloc.h"
#include "base/error.h"
#include "share/mesh-parts.h"

enum { SECRET = 32, KEY = 16, BLOCK = 16, LARGE = DPI_MESH_DRAWS };

/* Exporter's labels: the secret of a set of two, and of what two roles compare views under. */
static const char for_sets[] = "EXPORTER-tacit-mesh-set", for_views[] = "EXPORTER-tacit-mesh-view";

/* ---- agreement ---- */

typedef struct secrets {
    unsigned char part[DPI_MESH_SETS][DPI_SHARE_PARTIES][SECRET]; /* of each role's */
    unsigned char check[DPI_MESH_SETS][DPI_MESH_HASH];
} secrets;

static bool has(dpi_roles set, size_t role)
{
    return (set >> role & 1) != 0;
}

static bool is_pair(dpi_roles set)
{
    dpi_roles rest = set & (set - 1);
    return (rest & (rest - 1)) == 0;
}

/* The sets of three that this role has in common with another. */
static size_t shared_sets(const dpi_mesh *m, const dpi_mesh_opts *o, size_t j, dpi_roles *sets)
{
    size_t n = 0;
    for (size_t s = 0; s < o->n_sets; s++)
        if (!is_pair(o->sets[s]) && has(o->sets[s], m->role) && has(o->sets[s], j))
            sets[n++] = o->sets[s];
    return n;
}

static void draw_own(dpi_mesh *m, const dpi_mesh_opts *o, secrets *s)
{
    for (size_t k = 0; k < o->n_sets && m->err.status == DP_OK; k++) {
        dpi_roles set = o->sets[k];
        /* sodium_init aborts where there is no randomness, so it comes second. */
        if (has(set, m->role) &&
            (getentropy(s->part[set][m->role], SECRET) != 0 || sodium_init() < 0))
            dpi_mesh_fail(m, DP_EENTROPY,
                          "the operating system gave no random bytes for a key; a sandbox must "
                          "allow getrandom");
    }
}

/* What is told to, and heard from, another role: a message each way, if there is anything. */
static void tell(dpi_mesh *m, const dpi_mesh_opts *o, size_t j, secrets *s)
{
    dpi_roles sets[DPI_MESH_SETS];
    unsigned char bytes[DPI_MESH_SETS * SECRET];
    size_t n = shared_sets(m, o, j, sets);
    for (size_t k = 0; k < n; k++)
        memcpy(bytes + k * SECRET, s->part[sets[k]][m->role], SECRET);
    if (n > 0)
        dpi_mesh_send(m, DPI_MESH_KEYS, j, bytes, n * SECRET);
    sodium_memzero(bytes, sizeof bytes);
}

static void hear(dpi_mesh *m, const dpi_mesh_opts *o, size_t j, secrets *s)
{
    dpi_roles sets[DPI_MESH_SETS];
    unsigned char bytes[DPI_MESH_SETS * SECRET];
    size_t n = shared_sets(m, o, j, sets);
    if (n > 0)
        dpi_mesh_receive(m, DPI_MESH_KEYS, j, bytes, n * SECRET);
    for (size_t k = 0; k < n; k++)
        memcpy(s->part[sets[k]][j], bytes + k * SECRET, SECRET);
    sodium_memzero(bytes, sizeof bytes);
}

static void export_from(dpi_mesh *m, size_t j, const char *label, unsigned char to[SECRET])
{
    dpi_wire_session *session = m->link[j].both.session;
    if (m->err.status == DP_OK && dpi_wire_export(session, label, to, SECRET) != DP_OK)
        dpi_mesh_fail(m, dpi_wire_error(session)->status, dpi_wire_error(session)->text);
}

/* In place of what was drawn for a set of two. */
static void export_pair(dpi_mesh *m, dpi_roles set, secrets *s)
{
    size_t other = 0;
    while (other == m->role || !has(set, other))
        other++;
    memset(s->part[set], 0, sizeof s->part[set]);
    export_from(m, other, for_sets, s->part[set][0]);
}

/* A hash of the set's secret for a purpose. */
static void derive(const dpi_mesh_opts *o, dpi_roles set, unsigned char purpose, const secrets *s,
                   unsigned char *to, size_t n)
{
    const unsigned char head[] = {purpose, (unsigned char)o->parties, (unsigned char)set};
    crypto_generichash_state h;
    (void)crypto_generichash_init(&h, NULL, 0, n);
    (void)crypto_generichash_update(&h, head, sizeof head);
    (void)crypto_generichash_update(&h, s->part[set][0], sizeof s->part[set]);
    (void)crypto_generichash_update(&h, o->context, o->context_bytes);
    (void)crypto_generichash_final(&h, to, n);
    sodium_memzero(&h, sizeof h);
}

static void make_source(dpi_mesh *m, const dpi_mesh_opts *o, dpi_roles set, secrets *s)
{
    unsigned char key[KEY];
    dpi_mesh_source *r = m->source[set] != NULL ? NULL : dpi_alloc(1, sizeof *r);
    if (r == NULL || (r->cipher = EVP_CIPHER_CTX_new()) == NULL) {
        dpi_free(r);
        dpi_mesh_fail(m, DP_ENOMEM, "out of memory");
        return;
    }
    m->source[set] = r;
    derive(o, set, 'k', s, key, sizeof key);
    derive(o, set, 'c', s, s->check[set], sizeof s->check[set]);
    if (EVP_EncryptInit_ex(r->cipher, EVP_aes_128_ctr(), NULL, key, NULL) != 1)
        dpi_mesh_fail(m, DP_ENOMEM, "OpenSSL has no AES-128 here, or memory is out");
    sodium_memzero(key, sizeof key);
}

/* Of the context and all sets that have both roles. */
static void digest_with(const dpi_mesh *m, const dpi_mesh_opts *o, size_t j, const secrets *s,
                        unsigned char to[DPI_MESH_HASH])
{
    const unsigned char head[] = {'d', (unsigned char)o->parties};
    crypto_generichash_state h;
    (void)crypto_generichash_init(&h, NULL, 0, DPI_MESH_HASH);
    (void)crypto_generichash_update(&h, head, sizeof head);
    for (size_t k = 0; k < o->n_sets; k++) {
        dpi_roles set = o->sets[k];
        unsigned char name = (unsigned char)set;
        (void)crypto_generichash_update(&h, &name, 1);
        if (has(set, m->role) && has(set, j))
            (void)crypto_generichash_update(&h, s->check[set], sizeof s->check[set]);
    }
    (void)crypto_generichash_update(&h, o->context, o->context_bytes);
    (void)crypto_generichash_final(&h, to, DPI_MESH_HASH);
}

static void compare(dpi_mesh *m, const dpi_mesh_opts *o, const secrets *s)
{
    unsigned char own[DPI_MESH_HASH], other[DPI_MESH_HASH];
    for (size_t j = 0; j < m->parties; j++) {
        digest_with(m, o, j, s, own);
        if (j != m->role)
            dpi_mesh_send(m, DPI_MESH_KEYS, j, own, sizeof own);
    }
    for (size_t j = 0; j < m->parties; j++) {
        if (j == m->role)
            continue;
        digest_with(m, o, j, s, own);
        dpi_mesh_receive(m, DPI_MESH_KEYS, j, other, sizeof other);
        if (sodium_memcmp(own, other, sizeof own) != 0)
            dpi_mesh_fail(m, DP_EPEER,
                          "another party is in another session, or has lied about its keys");
    }
}

void dpi_mesh_agree(dpi_mesh *m, const dpi_mesh_opts *o)
{
    secrets *s = dpi_alloc(1, sizeof *s);
    if (s == NULL) {
        dpi_mesh_fail(m, DP_ENOMEM, "out of memory");
        return;
    }
    draw_own(m, o, s);
    for (size_t j = 0; j < m->parties; j++)
        if (j != m->role)
            tell(m, o, j, s);
    for (size_t j = 0; j < m->parties; j++)
        if (j != m->role)
            hear(m, o, j, s);
    for (size_t k = 0; k < o->n_sets && m->err.status == DP_OK; k++) {
        dpi_roles set = o->sets[k];
        if (has(set, m->role) && is_pair(set))
            export_pair(m, set, s);
        if (has(set, m->role) && m->err.status == DP_OK)
            make_source(m, o, set, s);
    }
    for (size_t j = 0; j < m->parties; j++)
        if (j != m->role)
            export_from(m, j, for_views, m->link[j].key);
    compare(m, o, s);
    sodium_memzero(s, sizeof *s);
    dpi_free(s);
}

void dpi_mesh_forget(dpi_mesh *m)
{
    for (size_t set = 0; set < DPI_MESH_SETS; set++) {
        dpi_mesh_source *r = m->source[set];
        if (r == NULL)
            continue;
        EVP_CIPHER_CTX_free(r->cipher); /* which wipes the key */
        sodium_memzero(r, sizeof *r);
        dpi_free(r);
        m->source[set] = NULL;
    }
}

/* ---- drawing ---- */

void dpi_mesh_layer(dpi_mesh *m, uint32_t layer)
{
    m->layer = layer;
    dpi_mesh_push(m);
    for (size_t set = 0; set < DPI_MESH_SETS; set++)
        if (m->source[set] != NULL)
            m->source[set]->placed = false;
}

/* The counter's first block of a layer: a layer has 2^64 of them, and more are not drawn. */
static bool place(dpi_mesh_source *r, uint32_t layer)
{
    unsigned char first[BLOCK] = {0};
    for (size_t i = 0; i < sizeof layer; i++)
        first[i] = (unsigned char)(layer >> (24 - 8 * i));
    r->placed = EVP_EncryptInit_ex(r->cipher, NULL, NULL, NULL, first) == 1;
    r->left = 0;
    return r->placed;
}

/* The next n bytes of the key stream: zeros, encrypted. */
static bool stream(dpi_mesh_source *r, unsigned char *to, size_t n)
{
    static const unsigned char zeros[LARGE];
    for (size_t at = 0; at < n;) {
        int part = n - at < LARGE ? (int)(n - at) : LARGE, done;
        if (EVP_EncryptUpdate(r->cipher, to + at, &done, zeros, part) != 1)
            return false;
        at += (size_t)part;
    }
    return true;
}

/* What is left of the few; then whole blocks at once, if they are many; the rest of new ones. */
static bool draw(dpi_mesh_source *r, unsigned char *to, size_t n)
{
    while (n > 0) {
        size_t whole = r->left == 0 && n >= LARGE ? n / BLOCK * BLOCK : 0;
        size_t part = r->left < n ? r->left : n;
        if (whole > 0) {
            if (!stream(r, to, whole))
                return false;
            part = whole;
        } else if (part > 0) {
            memcpy(to, r->few + (DPI_MESH_DRAWS - r->left), part);
            r->left -= part;
        } else {
            if (!stream(r, r->few, DPI_MESH_DRAWS))
                return false;
            r->left = DPI_MESH_DRAWS;
        }
        to += part;
        n -= part;
    }
    return true;
}

void dpi_mesh_draw(dpi_mesh *m, dpi_roles set, void *to, size_t bytes)
{
    dpi_mesh_source *r = set < DPI_MESH_SETS ? m->source[set] : NULL;
    if (r == NULL)
        dpi_misuse(__func__, "this role has no randomness in common with such a set");
    if ((r->placed || place(r, m->layer)) && draw(r, to, bytes))
        return;
    dpi_mesh_fail(m, DP_ENOMEM, "OpenSSL cannot encrypt: out of memory");
    if (bytes > 0)
        memset(to, 0, bytes);
}
