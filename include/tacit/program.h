/* Programs: what is served of a fitted model or of a network.
 *
 * A program is a list of stages, each an array of numbers made of one or two earlier ones.  It is
 * built with real weights, by the calls below; dp_program_fix then rounds the weights to integers
 * and proves that no stage can overflow.  Afterwards it does not change, and protocols read it.
 *
 *   dp_program *p = dp_program_new();
 *   int x = dp_program_input(p, 784, "pixel", 0, 1);
 *   int h = dp_program_relu(p, dp_program_dense(p, x, 128, w, b));
 *   dp_program_argmax(p, dp_program_dense(p, h, 10, v, c));
 *   if (dp_program_fix(p, NULL, &err)) ...
 *
 * Arrays: vectors [n], images [rows][columns][channels], weights [out][in], everything row-major
 * and copied.  Building calls return the stage's number, or -1 after an error, which sticks and is
 * reported by dp_program_fix; the last stage is the output.
 *
 * Threads: a fixed program is const and shareable; building is for one thread.
 * The integers, and why they cannot overflow: doc/design/program.md. */
#ifndef TACIT_PROGRAM_H
#define TACIT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <tacit/dataset.h>
#include <tacit/model.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_program dp_program;

/* ---- building ---- */

/* An empty program; NULL when memory is out.  Freed with dp_program_free (NULL is allowed). */
DP_API dp_program *dp_program_new(void) DP_MUST_CHECK;
DP_API void dp_program_free(dp_program *p);

/* The input: n numbers named name[0], name[1], ..., each within [low, high], finite bounds.  A
 * program has one, its first stage; dp_program_declare says more of single numbers.  The name is
 * that of a column and is copied. */
DP_API int dp_program_input(dp_program *p, size_t n, const char *name, double low, double high);

/* The same of an image [rows][columns][channels]. */
DP_API int dp_program_image(dp_program *p, size_t rows, size_t columns, size_t channels,
                            const char *name, double low, double high);

/* One of the things whose product a number of the input is: number `element` of a column of the
 * record or, where level >= 0, 1 where the column (a group number) is `level` and else 0. */
typedef struct dp_program_factor {
    const char *column;
    size_t element;
    int32_t level;
} dp_program_factor;

enum { DP_PROGRAM_FACTORS = 4 };

/* A number of the input. */
typedef struct dp_program_number {
    double low, high;
    size_t n_factors; /* 1 ... DP_PROGRAM_FACTORS */
    dp_program_factor factor[DP_PROGRAM_FACTORS];
} dp_program_number;

/* Says anew what number k of the input is: number k of the column dp_program_input named, if this
 * is not called. */
DP_API void dp_program_declare(dp_program *p, size_t k, const dp_program_number *number);

/* y_o = sum_i weights[o][i] x_i + bias[o], n_out of them; bias NULL: zeros. */
DP_API int dp_program_dense(dp_program *p, int in, size_t n_out, const double *weights,
                            const double *bias);

/* A convolution of an image: weights[out][rows][columns][channels] of the window, bias[out] or
 * NULL.  The window's image is that of stage `in`, and is not read; zero strides are 1. */
DP_API int dp_program_convolution(dp_program *p, int in, size_t n_out, const dp_window *window,
                                  const double *weights, const double *bias);

/* Means, pixels in the padding being zeros, and largest numbers, without the padding, of what the
 * window sees. */
DP_API int dp_program_average_pool(dp_program *p, int in, const dp_window *window);
DP_API int dp_program_max_pool(dp_program *p, int in, const dp_window *window);

DP_API int dp_program_relu(dp_program *p, int in);
DP_API int dp_program_sigmoid(dp_program *p, int in);
DP_API int dp_program_tanh(dp_program *p, int in);

/* Squares number by number, of numbers that a rounding shift has brought to activation_bits: what a
 * network is made of that is computed under encryption alone. */
DP_API int dp_program_square(dp_program *p, int in);

/* Sums number by number. */
DP_API int dp_program_add(dp_program *p, int a, int b);

/* The place of the largest number, the first one where several are equal.  A last stage only. */
DP_API int dp_program_argmax(dp_program *p, int in);

/* What whoever asks does to the output, outside all protocols. */
typedef enum dp_link {
    DP_LINK_IDENTITY = 0,
    DP_LINK_LOGISTIC, /* chance of 1 */
    DP_LINK_EXP,      /* a rate */
    DP_LINK_SOFTMAX   /* chances of classes */
} dp_link;

/* The output is that of `draws` posterior draws side by side, each with a `draws`-th of its
 * numbers, to which the link is applied.  Default: one, identity. */
DP_API void dp_program_answer(dp_program *p, dp_link link, size_t draws);

/* ---- integers ---- */

typedef struct dp_scale_opts {
    int weight_bits;     /* of the largest weight of a stage, 2 ... 30; 0: 12 */
    int activation_bits; /* of the bound of the input and of what a relu, sigmoid or tanh leaves
                          * and a square takes,
                          * 2 ... 30; 0: 16 */
    int most_bits;       /* of any number of any stage, without the sign, at most 62; 0: 62 */
} dp_scale_opts;

/* Ends the building: chooses scales, rounds the weights and proves the ranges.  opts NULL: all
 * defaults.  The first error of the building calls; DP_EINVAL options; DP_ESTATE it is fixed, or
 * has no stage but the input; DP_EDOMAIN a stage, which is named, needs more bits than most_bits;
 * DP_ENOMEM. */
DP_API dp_status dp_program_fix(dp_program *p, const dp_scale_opts *opts,
                                dp_error *err) DP_MUST_CHECK;

/* ---- reading; valid as long as the program is ---- */

#define DP_STAGE_LIST(X)                                                                           \
    X(DP_STAGE_INPUT, "input")                                                                     \
    X(DP_STAGE_DENSE, "dense")                                                                     \
    X(DP_STAGE_CONVOLUTION, "convolution")                                                         \
    X(DP_STAGE_AVERAGE_POOL, "average pool")                                                       \
    X(DP_STAGE_MAX_POOL, "max pool")                                                               \
    X(DP_STAGE_RELU, "relu")                                                                       \
    X(DP_STAGE_SIGMOID, "sigmoid")                                                                 \
    X(DP_STAGE_TANH, "tanh")                                                                       \
    X(DP_STAGE_ADD, "add")                                                                         \
    X(DP_STAGE_SQUARE, "square")                                                                   \
    X(DP_STAGE_ARGMAX, "argmax")

typedef enum dp_stage_kind {
#define DP_STAGE_ENUM(name, text) name,
    DP_STAGE_LIST(DP_STAGE_ENUM)
#undef DP_STAGE_ENUM
        DP_N_STAGE_KINDS
} dp_stage_kind;

typedef struct dp_stage {
    dp_stage_kind kind;
    int in[2];             /* earlier stages; -1: none */
    size_t shape[3], size; /* rows, columns, channels; a vector is one row of one column */
    dp_window window;      /* of convolutions and pools, with its image and strides filled in */
    size_t n_weights, n_bias;
    const double *real_weights, *real_bias; /* NULL: none, or a program of a sheet */

    /* Since dp_program_fix. */
    const int32_t *weights; /* [n_weights] as dp_program_dense and dp_program_convolution have
                             * them; of an average pool the one number that each pixel is
                             * multiplied by */
    const int64_t *bias;    /* [n_bias] */
    int weight_bits;        /* |weight| < 2^weight_bits */
    int fraction;           /* an integer v stands for v / 2^fraction */
    int shift;              /* bits that the stage's own rounding shift takes off */
    int lift[2];            /* of an addition: bits by which an operand is shifted up first */
    int bits;               /* |v| < 2^bits for every v of the stage and every input in bounds */
} dp_stage;

DP_API size_t dp_program_stages(const dp_program *p);

/* Stage k < dp_program_stages. */
DP_API const dp_stage *dp_program_stage(const dp_program *p, size_t k);

/* The pixel of the image that place k of a stage's window sees at a stop, stops, places and pixels
 * counted row after row; SIZE_MAX in the padding. */
DP_API size_t dp_window_pixel(const dp_window *window, size_t stop, size_t k) DP_NONNULL(1);

/* The kind in words, "convolution". */
DP_API const char *dp_stage_name(dp_stage_kind kind);

DP_API size_t dp_program_inputs(const dp_program *p);  /* numbers of the input */
DP_API size_t dp_program_outputs(const dp_program *p); /* numbers of the output */

/* Number k < dp_program_inputs of the input. */
DP_API dp_program_number dp_program_number_at(const dp_program *p, size_t k);

DP_API dp_link dp_program_link(const dp_program *p);
DP_API size_t dp_program_draws(const dp_program *p);

/* The most bits of any stage: what a ring, a plaintext modulus or a key must hold, with a sign. */
DP_API int dp_program_bits(const dp_program *p);

/* ---- running in the clear ---- */

/* Outputs y[n][outputs] of the real stages for x[n][inputs], as they were before rounding.
 * DP_ESTATE a program of a sheet, or one that is not fixed; DP_ENOMEM; all NaN then. */
DP_API dp_status dp_program_run(const dp_program *p, size_t n, const double *x, double *y,
                                dp_error *err) DP_MUST_CHECK;

/* The numbers x[n][inputs] of the records of a data set, n in all: columns, indicators of group
 * numbers, and their products, as dp_program_number_at says.  DP_ENAME a column is missing,
 * DP_ESHAPE it has too few numbers or is of another kind, or n; DP_EDATA a group number for which
 * the program has no indicator (the column is named); all NaN then. */
DP_API dp_status dp_program_read(const dp_program *p, const dp_dataset *data, size_t n, double *x,
                                 dp_error *err) DP_MUST_CHECK;

/* The integers v[n][inputs] of x[n][inputs].  DP_EDOMAIN a number outside its bounds, which is
 * named; all 0 then. */
DP_API dp_status dp_program_encode(const dp_program *p, size_t n, const double *x, int64_t *v,
                                   dp_error *err) DP_MUST_CHECK;

/* The integers y[n][outputs] that every protocol must arrive at, for the integers x[n][inputs] of
 * dp_program_encode.  DP_EDOMAIN, DP_ESTATE, DP_ENOMEM as above; all 0 then. */
DP_API dp_status dp_program_run_exact(const dp_program *p, size_t n, const int64_t *x, int64_t *y,
                                      dp_error *err) DP_MUST_CHECK;

/* What one stage makes of integers: y[size] of a[size of in[0]] and b[size of in[1]] (NULL where
 * there is none).  For protocols, in which one side does some stages in the clear. */
DP_API void dp_stage_run_exact(const dp_program *p, size_t k, const int64_t *a, const int64_t *b,
                               int64_t *y);

/* The same of one number, for a relu, sigmoid, tanh or square. */
DP_API int64_t dp_stage_element(const dp_program *p, size_t k, int64_t v);

/* Answers of the integers y[outputs] of one record: mean[m] and, where draws > 1, sd[m] (nullable)
 * over the draws after the link, m = outputs / draws. */
DP_API void dp_program_decode(const dp_program *p, const int64_t *y, double *mean, double *sd);

/* ---- scales in decimals ---- */

/* Records x[n][inputs] whose classes label[n] are known; borrowed. */
typedef struct dp_labelled {
    size_t n;
    const double *x;
    const int32_t *label;
} dp_labelled;

/* The share of the records whose class the real stages say right when all weights and biases are
 * rounded to so many decimals, at most 15 (negative: as they are).  The class is the place of the
 * largest output, or whether a single one is above 0; p is as it was, fixed or not.
 * DP_EINVAL the decimals; DP_ESTATE a program of a sheet, or without stages; DP_EUNSUPPORTED of
 * several draws; DP_EDATA no records; DP_ENOMEM; *share is NaN then. */
DP_API dp_status dp_program_accuracy(const dp_program *p, int decimals, const dp_labelled *records,
                                     double *share, dp_error *err) DP_MUST_CHECK;

enum { DP_PROGRAM_DECIMALS = 6 };

/* PP-Stream's choice of a scale (ICDE 2024): the least number of decimals to which weights and
 * biases can be rounded so that this share changes by less than 1e-4, and DP_PROGRAM_DECIMALS
 * where there is none less.  What it chooses is a function of the records that no epsilon speaks
 * of: of a private fit's own records it is not to be told.  dp_program_fix has no need of it.
 * Errors as above; *decimals is -1 then. */
DP_API dp_status dp_program_decimals(const dp_program *p, const dp_labelled *records, int *decimals,
                                     dp_error *err) DP_MUST_CHECK;

/* Bits of the largest weight times 10^decimals, decimals 0 ... 15, at least 2: the weight_bits of
 * integers as large.  2 of a program of a sheet. */
DP_API int dp_program_decimal_bits(const dp_program *p, int decimals);

/* ---- what whoever asks must know ---- */

/* The sheet: kinds, shapes, fractions, shifts and bits of the stages, and the input's numbers; no
 * weight, and nothing that follows from weights but the fractions, shifts and bits.  *bytes [out]
 * of length *n is freed with dp_program_sheet_free. */
DP_API dp_status dp_program_sheet(const dp_program *p, size_t *n, unsigned char **bytes,
                                  dp_error *err) DP_MUST_CHECK;
DP_API void dp_program_sheet_free(unsigned char *bytes);

/* A program without weights: for reading, encoding, decoding, and dp_stage_run_exact of stages that
 * have none.  The bytes may be anybody's.  DP_EDATA they are no sheet; DP_ENOMEM. */
DP_API dp_status dp_program_of_sheet(size_t n, const unsigned char *bytes, dp_program **p,
                                     dp_error *err) DP_MUST_CHECK;

enum { DP_PROGRAM_HASH = 32 };

/* BLAKE2b of the sheet: which program it is that is asked. */
DP_API dp_status dp_program_hash(const dp_program *p, unsigned char hash[DP_PROGRAM_HASH],
                                 dp_error *err) DP_MUST_CHECK;

/* The stages with shapes, scales, bits and numbers of products, for people. */
DP_API dp_status dp_program_print(const dp_program *p, FILE *to, dp_error *err) DP_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
