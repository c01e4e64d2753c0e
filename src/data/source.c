/* Texts in memory and in files; what is opened may be a pipe, whose size nobody knows. */
#define _XOPEN_SOURCE 700
#include "data/source.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "data/file.h"

static dp_status read_text(dpi_source *s, size_t n, char *to, size_t *got, dp_error *err)
{
    (void)err;
    *got = n < s->left ? n : s->left;
    if (*got > 0)
        memcpy(to, s->text, *got);
    s->text += *got;
    s->left -= *got;
    return DP_OK;
}

void dpi_source_text(dpi_source *s, const char *name, const char *text, size_t size)
{
    *s = (dpi_source){.name = name, .size = size, .read = read_text, .text = text, .left = size};
}

static dp_status read_file(dpi_source *s, size_t n, char *to, size_t *got, dp_error *err)
{
    if (s->n_head > 0) {
        *got = n < s->n_head ? n : s->n_head;
        memcpy(to, s->head, *got);
        s->n_head -= *got;
        memmove(s->head, s->head + *got, s->n_head);
        return DP_OK;
    }
    *got = fread(to, 1, n, s->file);
    if (*got == 0 && ferror(s->file))
        return dpi_fail(err, DP_EIO, "cannot read %s; check that it is a file and no folder",
                        s->name);
    return DP_OK;
}

dp_status dpi_source_open(dpi_source *s, const char *path, dp_error *err)
{
    struct stat about;
    *s = (dpi_source){.name = dpi_path_end(path), .read = read_file, .file = fopen(path, "rb")};
    if (s->file == NULL)
        return dpi_fail(err, DP_EIO, "cannot open %s; check the path and your right to read it",
                        s->name);
    (void)setvbuf(s->file, NULL, _IONBF, 0); /* what is read is a block already */
    if (fstat(fileno(s->file), &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
        s->size = (size_t)about.st_size;
        (void)posix_fadvise(fileno(s->file), 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    s->n_head = fread(s->head, 1, sizeof s->head, s->file); /* errors come again */
    dp_status status = dpi_source_unzip(s, (const unsigned char *)s->head, s->n_head, err);
    if (status != DP_OK)
        dpi_source_close(s);
    return status;
}

void dpi_source_close(dpi_source *s)
{
    dpi_source_unzip_end(s);
    if (s->file != NULL)
        (void)fclose(s->file);
    s->file = NULL;
}
