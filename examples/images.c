/* See images.h.  What is read from a file is checked by dp_idx_read; here, that the files fit
 * together. */
#include "examples/images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PATH = 1024 };

static bool exists(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file != NULL)
        (void)fclose(file);
    return file != NULL;
}

/* The file `name` of a folder, or that with .gz where there is none without. */
static void path_in(const char *folder, const char *name, char path[MOST_PATH])
{
    (void)snprintf(path, MOST_PATH, "%s/%s", folder, name);
    if (!exists(path))
        (void)snprintf(path, MOST_PATH, "%s/%s.gz", folder, name);
}

static dp_status mismatch(const char *path, const char *what, dp_error *err)
{
    (void)snprintf(err->text, sizeof err->text, "%s: %s", path, what);
    return DP_ESHAPE;
}

/* The `n` numbers of a file of labels. */
static dp_status read_labels(const char *path, size_t n, int32_t *labels, dp_error *err)
{
    dp_idx *file = NULL;
    dp_status status = dp_idx_read(path, 0, &file, err);
    if (status == DP_OK && (dp_idx_items(file) != n || dp_idx_size(file) != 1))
        status = mismatch(path, "not one label for each image", err);
    for (size_t i = 0; i < n && status == DP_OK; i++)
        labels[i] = dp_idx_values(file)[i];
    dp_idx_free(file);
    return status;
}

/* Room for the labels of all images. */
static dp_status make_labels(images *s)
{
    s->labels = malloc((s->n + s->n_test) * sizeof *s->labels);
    s->test_labels = s->labels != NULL ? s->labels + s->n : NULL;
    return s->labels != NULL ? DP_OK : DP_ENOMEM;
}

static dp_status read_folder(const char *folder, bool labels, images *s, dp_error *err)
{
    char path[MOST_PATH];
    path_in(folder, "train-images-idx3-ubyte", path);
    dp_status status = dp_idx_read(path, 0, &s->file, err);
    path_in(folder, "t10k-images-idx3-ubyte", path);
    if (status == DP_OK)
        status = dp_idx_read(path, 0, &s->test_file, err);
    if (status != DP_OK)
        return status;
    s->n = dp_idx_items(s->file);
    s->n_test = dp_idx_items(s->test_file);
    s->pixels = dp_idx_size(s->file);
    s->train = dp_idx_values(s->file);
    s->test = dp_idx_values(s->test_file);
    if (dp_idx_size(s->test_file) != s->pixels)
        return mismatch(folder, "test images are of another size than the others", err);
    if (!labels)
        return DP_OK;
    status = make_labels(s);
    path_in(folder, "train-labels-idx1-ubyte", path);
    if (status == DP_OK)
        status = read_labels(path, s->n, s->labels, err);
    path_in(folder, "t10k-labels-idx1-ubyte", path);
    return status == DP_OK ? read_labels(path, s->n_test, s->labels + s->n, err) : status;
}

static dp_status read_file(const char *file, bool labels, images *s, dp_error *err)
{
    dp_status status = dp_idx_read(file, 0, &s->file, err);
    if (status != DP_OK)
        return status;
    size_t all = dp_idx_items(s->file);
    s->pixels = dp_idx_size(s->file);
    s->n_test = all / 6;
    s->n = all - s->n_test;
    s->train = dp_idx_values(s->file);
    s->test = s->train + s->n * s->pixels;
    if (!labels)
        return DP_OK;
    char path[MOST_PATH];
    const char *place = strstr(file, "idx3");
    if (place == NULL)
        return mismatch(file, "labels are looked for beside a file whose name has idx3", err);
    (void)snprintf(path, sizeof path, "%.*slabels-idx1%s", (int)(place - file), file, place + 4);
    status = make_labels(s);
    return status == DP_OK ? read_labels(path, all, s->labels, err) : status;
}

dp_status images_read(const char *path, bool labels, images *s, dp_error *err)
{
    char train[MOST_PATH];
    *s = (images){0};
    path_in(path, "train-images-idx3-ubyte", train);
    dp_status status =
        exists(train) ? read_folder(path, labels, s, err) : read_file(path, labels, s, err);
    if (status == DP_ENOMEM)
        (void)snprintf(err->text, sizeof err->text, "out of memory for %s", path);
    return status;
}

double images_right(const images *s, size_t classes, const double *chances)
{
    size_t right = 0;
    for (size_t i = 0; i < s->n_test; i++) {
        size_t best = 0;
        for (size_t c = 1; c < classes; c++)
            best = chances[i * classes + c] > chances[i * classes + best] ? c : best;
        right += (int32_t)best == s->test_labels[i];
    }
    return (double)right / (double)s->n_test;
}

void images_free(images *s)
{
    dp_idx_free(s->file);
    dp_idx_free(s->test_file);
    free(s->labels);
    *s = (images){0};
}
