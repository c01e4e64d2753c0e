/* The inside of contexts, keys and rooms.
 *
 * Primes are numbered: 0 ... depth are q_0 ... q_depth, those behind them are of P.  A polynomial
 * "over all" has a row for each, in this order; rows of unused levels are not touched. */
#ifndef DPI_FHE_CKKS_PARTS_H
#define DPI_FHE_CKKS_PARTS_H

#include "base/compiler.h"
#include "base/pool.h"
#include "fhe/ckks.h"

enum { DPI_CKKS_KEPT = 64 };

/* A product by a known factor: w, and what the kernel has beside it. */
typedef struct dpi_ckks_factor {
    uint64_t w, beside;
} dpi_ckks_factor;

/* Raising residues modulo `count` primes from `first` on to all primes: y_j = x_j (D / q_j)^-1,
 * x mod t = sum_j y_j (D / q_j) - u D mod t, u = round(sum_j y_j / q_j): |x| <= D / 2, so that the
 * mean of x is 0.  What has another mean adds up at places near 1. */
typedef struct dpi_ckks_raising {
    size_t first, count;
    dpi_ckks_factor *own; /* [count] */
    uint64_t *from;       /* [primes][count + 1] D / q_j, and -D, of u */
    double *over;         /* [count] 1 / q_j */
    double bits;          /* log2 D */
} dpi_ckks_raising;

struct dpi_ckks {
    dpi_ckks_spec spec;
    dpi_ckks_upper upper;
    size_t n, levels, primes; /* levels: depth + squares + plains + 1 */
    dpi_ntt *ntt[DPI_CKKS_PRIMES];
    uint64_t whole[DPI_CKKS_PRIMES]; /* floor(2^64 / q) */
    double scale[DPI_CKKS_PRIMES];   /* [levels] */
    double factor[DPI_CKKS_PRIMES];  /* [levels] scales of plain factors: product / q is the next */
    double bits;
    dpi_embedding *embedding;
    size_t digits;
    dpi_ckks_raising *digit[DPI_CKKS_PRIMES]; /* [digits][alpha]: of 1 ... alpha primes */
    dpi_ckks_raising p;                       /* of P */
    dpi_ckks_factor over_p[DPI_CKKS_PRIMES];  /* [levels] P^-1 mod q */
    uint64_t p_mod[DPI_CKKS_PRIMES];          /* [levels] P modulo each */
    dpi_ckks_factor over_q[DPI_CKKS_PRIMES][DPI_CKKS_PRIMES]; /* q_l^-1 mod q_j, j < l */
};

struct dpi_ckks_secret {
    const dpi_ckks *c;
    int8_t *digit;         /* [n] ternary */
    uint64_t *row, *minus; /* [primes][n] transformed: s and -s */
};

struct dpi_ckks_public {
    const dpi_ckks *c;
    uint64_t *b, *a;                   /* [levels][n] */
    unsigned char seed[DPI_RLWE_SEED]; /* of a */
};

struct dpi_ckks_switch {
    const dpi_ckks *c;
    uint32_t
        *place; /* [n] where a place of what is turned lies in what is not; NULL: of products */
    uint64_t *b, *a;                                    /* [digits][primes][n] */
    unsigned char seed[DPI_CKKS_PRIMES][DPI_RLWE_SEED]; /* [digits] of a */
};

struct dpi_ckks_room {
    const dpi_ckks *c;
    dpi_pool *pool; /* NULL: the caller's thread alone */
    size_t threads;
    uint64_t *raised; /* [digits][primes][n] */
    uint64_t *spare;  /* [threads][n] */
    uint64_t *sum[2]; /* [primes][n] */
    uint64_t *row;    /* [levels or 2 special, the more][n] y of what is raised */
    double *part;     /* [threads][n] */
    double *re, *im;  /* [n / 2] */
    uint64_t *times;  /* [digits or 2, the more][n] and u */
    int64_t *whole;   /* [n] */
    int8_t *small[2]; /* [n] */
    dpi_ckks_cipher kept[DPI_CKKS_KEPT]; /* [n_kept] what was given back */
    size_t n_kept;
};

/* x mod q of any x < 2^64. */
DPI_INLINE uint64_t dpi_ckks_reduce(const dpi_ckks *c, size_t prime, uint64_t x)
{
    unsigned long long low;
    const uint64_t q = c->ntt[prime]->m.q;
    return dpi_modulus_once(x - dpi_multiply_wide(x, c->whole[prime], &low) * q, q);
}

/* x mod q of any signed x. */
DPI_INLINE uint64_t dpi_ckks_residue(const dpi_ckks *c, size_t prime, int64_t x)
{
    const uint64_t q = c->ntt[prime]->m.q, sign = 0 - ((uint64_t)x >> 63);
    const uint64_t r = dpi_ckks_reduce(c, prime, ((uint64_t)x ^ sign) - sign);
    return dpi_modulus_once(r + ((q - 2 * r) & sign), q);
}

/* x = w x of a row of a prime. */
DPI_INLINE void dpi_ckks_scale_row(const dpi_ckks *c, size_t prime, dpi_ckks_factor f, uint64_t *x)
{
    c->ntt[prime]->kernel->scale(c->ntt[prime], f.w, f.beside, x);
}

/* Calls work(of, i, thread) for each i < n once, in the threads of the room; of calls that run at the
 * same time each has a `thread` of its own, below room->threads. */
void dpi_ckks_each(const dpi_ckks_room *room, size_t n,
                   void (*work)(void *of, size_t i, size_t thread), void *of);

/* A ciphertext for a while, with room for levels up to `level`, which holds anything; and back.  Of
 * those that are given back up to DPI_CKKS_KEPT are kept with the room, as memory that the system
 * gives anew is slow.  DP_ENOMEM. */
dp_status dpi_ckks_take(dpi_ckks_room *room, size_t level, dpi_ckks_cipher *x,
                        dp_error *err) DP_MUST_CHECK;
void dpi_ckks_give(dpi_ckks_room *room, dpi_ckks_cipher *x);

/* Standard deviation of a place whose coefficients have that variance, at a scale. */
double dpi_ckks_spread(const dpi_ckks *c, double variance, double scale);

/* Variance of a ternary coefficient times n, plus one: what rounding c1 brings through s. */
double dpi_ckks_rounding(const dpi_ckks *c);

/* The noise of places up to `size` that were encoded and encrypted, by the secret or not. */
double dpi_ckks_fresh(const dpi_ckks *c, bool by_secret, double size, double scale);

/* The variance of an error. */
double dpi_ckks_variance(void);

/* Rows of a polynomial with small coefficients, transformed, for primes first ... last - 1. */
void dpi_ckks_small(const dpi_ckks *c, size_t first, size_t last, const int8_t *small,
                    uint64_t *row);

/* b = e + a minus for primes 0 ... last - 1, a uniform, of a seed that is drawn; e[n] is room. */
void dpi_ckks_sample(const dpi_ckks *c, const uint64_t *minus, size_t last, dpi_rlwe_stream *random,
                     int8_t *e, uint64_t *b, uint64_t *a, unsigned char seed[DPI_RLWE_SEED]);

/* a of its seed, for primes 0 ... last - 1. */
void dpi_ckks_expand(const dpi_ckks *c, size_t last, const unsigned char seed[DPI_RLWE_SEED],
                     uint64_t *a);

/* Room for a key; DP_ENOMEM. */
dp_status dpi_ckks_switch_room(const dpi_ckks *c, size_t turn, dpi_ckks_switch **k,
                               dp_error *err) DP_MUST_CHECK;
dp_status dpi_ckks_public_room(const dpi_ckks *c, dpi_ckks_public **k, dp_error *err) DP_MUST_CHECK;

/* A key from another secret, `from` [levels][n] transformed, to s.  DP_ENOMEM. */
dp_status dpi_ckks_switch_from(const dpi_ckks_secret *s, const uint64_t *from,
                               dpi_rlwe_stream *random, dpi_ckks_switch **k,
                               dp_error *err) DP_MUST_CHECK;

/* 0 at the scale of products at the level, to which these are added. */
void dpi_ckks_zero_product(const dpi_ckks *c, size_t level, dpi_ckks_cipher *to);

/* to += a x, for a number that is the same at all places. */
void dpi_ckks_multiply_add_number(const dpi_ckks *c, const dpi_ckks_cipher *x, double a,
                                  dpi_ckks_room *room, dpi_ckks_cipher *to);

/* x += a, the same at all places. */
void dpi_ckks_add_number(const dpi_ckks *c, double a, dpi_ckks_cipher *x);

/* Raises the digits of d[level + 1][n] into room->raised, for dpi_ckks_inner. */
void dpi_ckks_raise(const dpi_ckks *c, size_t level, const uint64_t *d, dpi_ckks_room *room);

/* The sum of raised digits times the key, divided by P and added to to[2]. */
void dpi_ckks_inner(const dpi_ckks *c, size_t level, const dpi_ckks_switch *k, dpi_ckks_room *room,
                    uint64_t *const to[2]);

/* to = x turned by the key, of which the digits are raised; by none where it is NULL. */
void dpi_ckks_turn_raised(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_switch *k,
                          dpi_ckks_room *room, dpi_ckks_cipher *to);

/* Misuse where a room, a key or a matrix is of another context. */
void dpi_ckks_must_be_of(const dpi_ckks *c, const dpi_ckks *other);

/* Misuse where a value of so many words cannot be at that level. */
void dpi_ckks_must_hold(const dpi_ckks *c, size_t room, size_t level);

void dpi_ckks_copy(const dpi_ckks *c, const dpi_ckks_cipher *x, dpi_ckks_cipher *to);

/* to += x p, of one level; the scale is the product. */
void dpi_ckks_multiply_add_plain(const dpi_ckks *c, const dpi_ckks_cipher *x,
                                 const dpi_ckks_plain *p, dpi_ckks_cipher *to);

/* to += x y in three parts, of one level; `to` is at that level and has the product's scale. */
void dpi_ckks_multiply_add(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_cipher *y,
                           dpi_ckks_cipher *to);

/* A sum of products in three parts, in two. */
void dpi_ckks_relinearise(const dpi_ckks *c, const dpi_ckks_switch *square, dpi_ckks_room *room,
                          dpi_ckks_cipher *x);

/* Both at once, for d that no other key is for. */
void dpi_ckks_switch_once(const dpi_ckks *c, size_t level, const uint64_t *d,
                          const dpi_ckks_switch *k, dpi_ckks_room *room, uint64_t *const to[2]);

/* Down a level, whatever the scale, which is divided by the prime. */
void dpi_ckks_divide(const dpi_ckks *c, dpi_ckks_room *room, dpi_ckks_cipher *x);

/* What switching adds to coefficients' variance. */
double dpi_ckks_switching(const dpi_ckks *c, size_t level);

#endif
