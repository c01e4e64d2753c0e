/* A function of many numbers by vectors of them, for the kernels of both precisions (map-kernel.h,
 * map-double-kernel.h), which define NUMBER, the vectors NUMBERS of LANES of them, and `apply`. */

/* The last numbers are taken together with some before them, unless there are too few.  They are
 * read first, so that `out` may be `in`. */
KERNEL_TARGET void KERNEL_NAME(dpi_map function, size_t n, const NUMBER *in, NUMBER *out)
{
    NUMBERS last = {0}, x;
    if (n < LANES) {
        memcpy(&last, in, n * sizeof *in);
        last = apply(function, last);
        memcpy(out, &last, n * sizeof *out);
        return;
    }
    memcpy(&last, in + n - LANES, sizeof last);
    for (size_t i = 0; i + LANES < n; i += LANES) {
        memcpy(&x, in + i, sizeof x);
        x = apply(function, x);
        memcpy(out + i, &x, sizeof x);
    }
    last = apply(function, last);
    memcpy(out + n - LANES, &last, sizeof last);
}
