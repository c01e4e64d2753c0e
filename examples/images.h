/* Images that the examples learn, with a public test set: files in IDX, compressed or not. */
#ifndef EXAMPLES_IMAGES_H
#define EXAMPLES_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include <tacit/tacit.h>

typedef struct images {
    dp_idx *file, *test_file;          /* test_file NULL: the test set is the end of `file` */
    const unsigned char *train, *test; /* [n][pixels], [n_test][pixels] */
    int32_t *labels;                   /* [n + n_test]; NULL where none were asked for */
    const int32_t *test_labels;        /* labels + n */
    size_t n, n_test, pixels;
} images;

/* Reads images, and their labels too where they are asked for.  The path is either
 *   a folder  with MNIST's or Fashion-MNIST's train-images-idx3-ubyte, train-labels-idx1-ubyte,
 *             t10k-images-... and t10k-labels-..., each of them as it is or with .gz, or
 *   a file    whose last sixth is taken as the test set; its labels are in the file with
 *             labels-idx1 in the place of the name's idx3.
 * The caller frees the images, after an error too. */
dp_status images_read(const char *path, bool labels, images *s, dp_error *err);

/* The share of test images whose label has the largest of their chances[n_test][classes]. */
double images_right(const images *s, size_t classes, const double *chances);

void images_free(images *s);

#endif
