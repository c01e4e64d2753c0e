/* NPY files as memory maps.  Pages come in when a batch reads them; the kernel is told that reading
 * is at random, so that it does not read ahead.  Whether they are in memory is up to the kernel: on
 * a machine that others may watch, page faults tell which records were read (doc/guarantee.md). */
#define _DEFAULT_SOURCE
#include <tacit/npy.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "data/file.h"
#include "data/npy-header.h"

struct dp_npy {
    dpi_npy_header header;
    void *map;
    size_t size;
};

/* The values are read as they lie there. */
static bool is_little_endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 1;
}

static dp_status map_file(const char *path, int file, dp_npy *npy, dp_error *err)
{
    struct stat about;
    if (!is_little_endian())
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "NPY files are mapped on little-endian machines only");
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) ||
        (uintmax_t)about.st_size > SIZE_MAX || about.st_size <= 0)
        return dpi_fail(err, DP_EIO, "%s is no regular file, or empty; it cannot be mapped",
                        dpi_path_end(path));
    npy->size = (size_t)about.st_size;
    npy->map = mmap(NULL, npy->size, PROT_READ, MAP_PRIVATE, file, 0);
    if (npy->map == MAP_FAILED)
        return dpi_fail(err, DP_EIO, "cannot map the %zu bytes of %s into memory", npy->size,
                        dpi_path_end(path));
    size_t first = npy->size < DPI_NPY_MOST ? npy->size : DPI_NPY_MOST;
    return dpi_npy_header_read(npy->map, first, npy->size, &npy->header, err);
}

dp_status dp_npy_open(const char *path, dp_npy **out, dp_error *err)
{
    if (path == NULL || out == NULL)
        dpi_misuse(__func__, "NULL path or result");
    *out = NULL;
    dp_npy *npy = dpi_alloc(1, sizeof *npy);
    if (npy == NULL)
        return dpi_fail_nomem(err);
    npy->map = MAP_FAILED;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    dp_status status =
        file < 0 ? dpi_fail(err, DP_EIO, "cannot open %s; check the path and your right to read it",
                            dpi_path_end(path))
                 : map_file(path, file, npy, err);
    if (file >= 0)
        (void)close(file);
    if (status != DP_OK) {
        dp_npy_free(npy);
        return status;
    }
    (void)madvise(npy->map, npy->size, MADV_RANDOM); /* advice only */
    *out = npy;
    return DP_OK;
}

void dp_npy_free(dp_npy *npy)
{
    if (npy == NULL)
        return;
    if (npy->map != MAP_FAILED)
        (void)munmap(npy->map, npy->size);
    dpi_free(npy);
}

size_t dp_npy_rows(const dp_npy *npy)
{
    return npy->header.rows;
}

size_t dp_npy_columns(const dp_npy *npy)
{
    return npy->header.columns;
}

static const void *values_of(const dp_npy *npy)
{
    return (const unsigned char *)npy->map + npy->header.start;
}

const double *dp_npy_real(const dp_npy *npy)
{
    return npy->header.real ? values_of(npy) : NULL;
}

const int32_t *dp_npy_index(const dp_npy *npy)
{
    return npy->header.real ? NULL : values_of(npy);
}
