/* Text that gzip has packed, unpacked a piece at a time: 40 KB for zlib and a block of what is
 * packed, whatever the file makes of itself.  Whoever reads counts what comes out (blocks.c), so
 * that a small file which unpacks to a large one is refused by the same limit as a large one.
 *
 * Several members behind one another are one text (RFC 1952, 2.2), as `cat a.gz b.gz` and pigz
 * write.  Whatever else comes behind a member is refused. */
#include "data/source.h"

#include "base/alloc.h"
#include "base/error.h"
#include "data/gunzip.h"

enum { PACKED = 64 * 1024, MAGIC = 2 };

struct dpi_unzip {
    z_stream zip;
    dp_status (*packed)(dpi_source *s, size_t n, char *to, size_t *got, dp_error *err);
    bool between; /* members */
    unsigned char in[PACKED];
};

/* Sees that there are packed bytes; *more is false at the end of the file. */
static dp_status feed(dpi_source *s, bool *more, dp_error *err)
{
    struct dpi_unzip *u = s->unzip;
    size_t got;
    *more = u->zip.avail_in > 0;
    if (*more)
        return DP_OK;
    dp_status status = u->packed(s, PACKED, (char *)u->in, &got, err);
    u->zip.next_in = u->in;
    u->zip.avail_in = status == DP_OK ? (uInt)got : 0;
    *more = u->zip.avail_in > 0;
    return status;
}

static dp_status damaged(const dpi_source *s, dp_error *err)
{
    const char *what = s->unzip->zip.msg;
    return dpi_fail(err, DP_EDATA,
                    "%s: what gzip has packed is cut or damaged (%s); fetch the file again",
                    s->name, what != NULL ? what : "its end is missing");
}

/* The next member begins where bytes follow that begin one. */
static dp_status begin_member(dpi_source *s, dp_error *err)
{
    struct dpi_unzip *u = s->unzip;
    if (u->zip.next_in[0] != 0x1f || inflateReset(&u->zip) != Z_OK)
        return dpi_fail(err, DP_EDATA,
                        "%s: bytes behind what gzip has packed that are not its own; the file is "
                        "damaged",
                        s->name);
    u->between = false;
    return DP_OK;
}

static dp_status read_unzipped(dpi_source *s, size_t n, char *to, size_t *got, dp_error *err)
{
    struct dpi_unzip *u = s->unzip;
    const uInt room = n < PACKED ? (uInt)n : PACKED;
    u->zip.next_out = (unsigned char *)to;
    u->zip.avail_out = room;
    for (*got = 0; *got == 0; *got = room - u->zip.avail_out) {
        bool more;
        dp_status status = feed(s, &more, err);
        if (status == DP_OK && more && u->between)
            status = begin_member(s, err);
        if (status != DP_OK)
            return status;
        if (!more)
            return u->between ? DP_OK : damaged(s, err);
        int what = inflate(&u->zip, Z_NO_FLUSH);
        u->between = what == Z_STREAM_END;
        if (what == Z_MEM_ERROR)
            return dpi_fail_nomem(err);
        if (what != Z_OK && what != Z_STREAM_END)
            return damaged(s, err);
    }
    return DP_OK;
}

dp_status dpi_source_unzip(dpi_source *s, const unsigned char *first, size_t n, dp_error *err)
{
    if (n < MAGIC || !dpi_is_gzip(first, n))
        return DP_OK;
    struct dpi_unzip *u = dpi_alloc(1, sizeof *u);
    if (u == NULL)
        return dpi_fail_nomem(err);
    if (!dpi_inflate_start(&u->zip)) {
        dpi_free(u);
        return dpi_fail_nomem(err);
    }
    u->packed = s->read;
    s->unzip = u;
    s->read = read_unzipped;
    s->size = 0; /* nobody knows */
    return DP_OK;
}

void dpi_source_unzip_end(dpi_source *s)
{
    if (s->unzip == NULL)
        return;
    (void)inflateEnd(&s->unzip->zip);
    dpi_free(s->unzip);
    s->unzip = NULL;
}
