/* Files are read to their end into a block that doubles, with no trust in a size told beforehand:
 * what is opened may be a pipe, or grow meanwhile.  Peak memory: three times the file. */
#include "data/file.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { FIRST_BLOCK = 64 * 1024, SHOWN = 160 };

const char *dpi_path_end(const char *path)
{
    size_t length = strlen(path);
    return length > SHOWN ? path + length - SHOWN : path;
}

/* Moves the block to a larger one, at most `most` bytes; false when memory is out. */
static bool enlarge(char **block, size_t *capacity, size_t most)
{
    size_t wanted = *capacity > most / 2 ? most : *capacity * 2;
    char *larger = dpi_alloc(wanted, 1);
    if (larger == NULL)
        return false;
    memcpy(larger, *block, *capacity);
    dpi_free(*block);
    *block = larger;
    *capacity = wanted;
    return true;
}

static dp_status read_all(FILE *file, const char *path, size_t max_bytes, char **text, size_t *size,
                          dp_error *err)
{
    size_t most = max_bytes < SIZE_MAX ? max_bytes + 1 : max_bytes; /* one more shows the excess */
    size_t capacity = most < FIRST_BLOCK ? most : FIRST_BLOCK;
    *text = dpi_alloc(capacity, 1);
    *size = 0;
    if (*text == NULL)
        return dpi_fail_nomem(err);
    for (;;) {
        size_t got = fread(*text + *size, 1, capacity - *size, file);
        *size += got;
        if (*size > max_bytes)
            return dpi_fail(err, DP_EDATA, "%s is larger than %zu bytes; raise max_bytes",
                            dpi_path_end(path), max_bytes);
        if (got == 0 && ferror(file))
            return dpi_fail(err, DP_EIO, "cannot read %s; check that it is a file and no folder",
                            dpi_path_end(path));
        if (got == 0)
            return DP_OK;
        if (*size == capacity && !enlarge(text, &capacity, most))
            return dpi_fail_nomem(err);
    }
}

dp_status dpi_file_read(const char *path, size_t max_bytes, char **text, size_t *size,
                        dp_error *err)
{
    *text = NULL;
    *size = 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return dpi_fail(err, DP_EIO, "cannot open %s; check the path and your right to read it",
                        dpi_path_end(path));
    dp_status status = read_all(file, path, max_bytes, text, size, err);
    (void)fclose(file);
    if (status != DP_OK) {
        dpi_free(*text);
        *text = NULL;
        *size = 0;
    }
    return status;
}
