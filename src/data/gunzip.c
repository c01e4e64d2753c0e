/* gzip by zlib, whose memory is that of base/alloc.h: 40 KB whatever is read. */
#include "data/gunzip.h"

#include "base/alloc.h"
#include "base/error.h"

/* zlib counts in unsigned int. */
static const size_t most_at_once = (size_t)1 << 30;

enum { GZIP_ONLY = 16 + MAX_WBITS };

static void *zip_alloc(void *user, unsigned items, unsigned size)
{
    (void)user;
    return dpi_alloc(items, size);
}

static void zip_free(void *user, void *block)
{
    (void)user;
    dpi_free(block);
}

bool dpi_is_gzip(const unsigned char *bytes, size_t n_bytes)
{
    return n_bytes >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

bool dpi_inflate_start(z_stream *zip)
{
    zip->zalloc = zip_alloc;
    zip->zfree = zip_free;
    return inflateInit2(zip, GZIP_ONLY) == Z_OK;
}

dp_status dpi_gunzip_start(dpi_gunzip *g, const unsigned char *bytes, size_t n_bytes, dp_error *err)
{
    *g = (dpi_gunzip){.next = bytes, .left = n_bytes};
    return dpi_inflate_start(&g->zip) ? DP_OK : dpi_fail_nomem(err);
}

/* Makes at most n bytes at out; *made tells how many: fewer only at the end. */
static dp_status inflate_some(dpi_gunzip *g, size_t n, unsigned char *out, size_t *made,
                              dp_error *err)
{
    *made = 0;
    while (*made < n && !g->ended) {
        size_t room = n - *made < most_at_once ? n - *made : most_at_once;
        if (g->zip.avail_in == 0 && g->left > 0) {
            size_t fed = g->left < most_at_once ? g->left : most_at_once;
            g->zip.next_in = g->next;
            g->zip.avail_in = (uInt)fed;
            g->next += fed;
            g->left -= fed;
        }
        g->zip.next_out = out + *made;
        g->zip.avail_out = (uInt)room;
        int what = inflate(&g->zip, Z_NO_FLUSH);
        *made += room - g->zip.avail_out;
        g->ended = what == Z_STREAM_END;
        if (what == Z_MEM_ERROR)
            return dpi_fail_nomem(err);
        if (what != Z_OK && what != Z_STREAM_END)
            return dpi_fail(err, DP_EDATA,
                            "the compressed file is cut or damaged (gzip: %s); fetch it again",
                            g->zip.msg != NULL ? g->zip.msg : "its end is missing");
    }
    return DP_OK;
}

dp_status dpi_gunzip_read(dpi_gunzip *g, size_t n, unsigned char *out, dp_error *err)
{
    size_t made;
    dp_status status = inflate_some(g, n, out, &made, err);
    if (status == DP_OK && made < n)
        status = dpi_fail(err, DP_EDATA,
                          "the compressed file holds fewer bytes than it says; it is cut or "
                          "damaged, fetch it again");
    return status;
}

dp_status dpi_gunzip_finish(dpi_gunzip *g, dp_error *err)
{
    unsigned char more;
    size_t made;
    dp_status status = inflate_some(g, 1, &more, &made, err);
    if (status == DP_OK && (made > 0 || g->left > 0 || g->zip.avail_in > 0))
        status = dpi_fail(err, DP_EDATA,
                          "the compressed file holds more bytes than it says; it is damaged, or "
                          "several files in one");
    return status;
}

void dpi_gunzip_end(dpi_gunzip *g)
{
    (void)inflateEnd(&g->zip);
}
