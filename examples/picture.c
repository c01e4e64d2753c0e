/* PNG by libpng. */
#include "examples/picture.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>

enum { ZOOM = 4 };

dp_status picture_write(const char *prefix, const char *what, size_t side, size_t across,
                        size_t down, const double *ink, dp_error *err)
{
    char path[1024];
    const size_t width = across * side * ZOOM, height = down * side * ZOOM;
    png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_GRAY};
    unsigned char *grey = calloc(height, width);
    image.width = (png_uint_32)width;
    image.height = (png_uint_32)height;
    for (size_t y = 0; grey != NULL && y < height; y++)
        for (size_t x = 0; x < width; x++) {
            const size_t row = y / ZOOM, column = x / ZOOM;
            const size_t which = row / side * across + column / side;
            const double v = ink[(which * side + row % side) * side + column % side];
            grey[y * width + x] = (unsigned char)lrint(255 * (1 - v));
        }
    (void)snprintf(path, sizeof path, "%s-%s.png", prefix, what);
    const bool written = grey != NULL && png_image_write_to_file(&image, path, 0, grey, 0, NULL);
    free(grey);
    if (written)
        return DP_OK;
    err->status = DP_EIO;
    (void)snprintf(err->text, sizeof err->text, "cannot write the picture %.400s", path);
    return DP_EIO;
}
