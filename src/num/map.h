/* Functions of many numbers. */
#ifndef DPI_NUM_MAP_H
#define DPI_NUM_MAP_H

#include <stdbool.h>
#include <stddef.h>

typedef enum dpi_map {
    DPI_MAP_EXP,
    DPI_MAP_LOGISTIC,
    DPI_MAP_SOFTPLUS,
    DPI_MAP_NORMAL_CDF /* of floats only */
} dpi_map;

/* out[i] = f(in[i]), to 8 2^-24 of itself; e^x is 0 where it is below 2^-126.  The normal
 * distribution function is off by half a unit in its last place, times 1 + 2^-8.  out[i] is a
 * function of in[i] alone, to the bit, on one machine. */
void dpi_map_single(dpi_map function, size_t n, const float *in, float *out);

/* The same to 9 2^-53 of itself, or to 2^-1073. */
void dpi_map_double(dpi_map function, size_t n, const double *in, double *out);

typedef struct dpi_map_kernel {
    const char *name;
    bool (*works)(void); /* on this machine */
    void (*map)(dpi_map function, size_t n, const float *in, float *out);
    void (*map_double)(dpi_map function, size_t n, const double *in, double *out);
} dpi_map_kernel;

/* Fastest first; the last works everywhere. */
extern const dpi_map_kernel dpi_map_kernels[];
extern const size_t dpi_n_map_kernels;

void dpi_map_avx512(dpi_map function, size_t n, const float *in, float *out);
void dpi_map_avx512_double(dpi_map function, size_t n, const double *in, double *out);
void dpi_map_avx2(dpi_map function, size_t n, const float *in, float *out);
void dpi_map_avx2_double(dpi_map function, size_t n, const double *in, double *out);
void dpi_map_portable(dpi_map function, size_t n, const float *in, float *out);
void dpi_map_portable_double(dpi_map function, size_t n, const double *in, double *out);

#endif
