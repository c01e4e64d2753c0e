/* Products modulo odd numbers, eight at a time.
 *
 * Residues are in Montgomery form, x R mod N, in a layout that is the back end's own:
 *   one    [words] 64-bit words, one residue
 *   eight  [words * 8], a residue for each of eight lanes, 64-byte aligned
 * Lanes beyond those that a call asks for hold what they like.  A residue's form is not unique: two
 * are compared after dpi_montgomery_leave.
 *
 * There are one or two moduli; with two, even lanes have the first and odd ones the second.  Where
 * the modulus is secret no call's time depends on anything but sizes, apart from what says so. */
#ifndef DPI_CRYPTO_MONTGOMERY_H
#define DPI_CRYPTO_MONTGOMERY_H

#include <gmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

enum { DPI_LANES = 8, DPI_WINDOW = 4 /* bits, of exponents */ };

typedef struct dpi_montgomery dpi_montgomery;

/* How eights are laid out and multiplied.  select reads all entries of a table and keeps, for each
 * lane, that of its index; lanes share their tables where period is 1 or 2 (lane % period). */
typedef struct dpi_montgomery_backend {
    const char *name;
    bool (*usable)(void);
    size_t (*digits)(size_t limbs); /* of a residue, those that are used */
    size_t digit_bits;              /* R = 2^(digits * digit_bits) */
    size_t aligned;                 /* words of a residue are a multiple of it */
    void (*split)(const dpi_montgomery *m, const mp_limb_t *limbs, uint64_t *one);
    void (*join)(const dpi_montgomery *m, const uint64_t *one, mp_limb_t *limbs);
    void (*pack)(const dpi_montgomery *m, const uint64_t *const *ones, uint64_t *eight);
    void (*unpack)(const dpi_montgomery *m, const uint64_t *eight, uint64_t *const *ones);
    void (*multiply)(const dpi_montgomery *m, size_t lanes, const uint64_t *a, const uint64_t *b,
                     uint64_t *out);
    void (*put)(const dpi_montgomery *m, size_t period, size_t entries, size_t entry,
                const uint64_t *eight, uint64_t *table);
    void (*select)(const dpi_montgomery *m, size_t period, size_t entries, const uint64_t *table,
                   const uint64_t *index, uint64_t *eight);
} dpi_montgomery_backend;

struct dpi_montgomery {
    const dpi_montgomery_backend *backend;
    size_t limbs, digits, words, moduli;
    bool secret;
    const mp_limb_t *number[2];  /* [limbs] */
    uint64_t inverse[DPI_LANES]; /* -1 / N mod 2^64, by lane */
    const uint64_t *modulus;     /* eights: N itself, */
    const uint64_t *square;      /* R^2 mod N, */
    const uint64_t *one;         /* R mod N, */
    const uint64_t *plain;       /* and 1 */
    const uint64_t *apart;       /* [lanes][words], the modulus of each lane as a residue is */
};

/* By GMP, on any machine; by AVX-512 IFMA. */
extern const dpi_montgomery_backend dpi_montgomery_gmp;
extern const dpi_montgomery_backend dpi_montgomery_ifma;

/* The second's product of at most four lanes, which wastes none; false where there is none of that
 * size. */
bool dpi_montgomery_few(const dpi_montgomery *m, size_t lanes, const uint64_t *a, const uint64_t *b,
                        uint64_t *out);

/* The fastest that this machine has. */
const dpi_montgomery_backend *dpi_montgomery_fastest(void);

typedef enum dpi_secrecy { DPI_PUBLIC, DPI_SECRET } dpi_secrecy;

/* Moduli numbers[0 ... moduli - 1], odd, above 1, of at most `limbs` limbs.  *m [out], owned by the
 * caller, const and shared by threads from then on.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_montgomery_new(const dpi_montgomery_backend *backend,
                                           dpi_secrecy secrecy, size_t limbs, size_t moduli,
                                           const mp_limb_t *const *numbers, dpi_montgomery **m,
                                           dp_error *err);

/* NULL is allowed. */
void dpi_montgomery_free(dpi_montgomery *m);

/* Words of an eight. */
size_t dpi_montgomery_eight(const dpi_montgomery *m);

/* Memory for n eights, zeroed: locked and wiped where the modulus is secret.  NULL when memory is
 * out. */
uint64_t *dpi_montgomery_alloc(const dpi_montgomery *m, size_t eights);
void dpi_montgomery_release(const dpi_montgomery *m, uint64_t *eights);

/* Residues of numbers below N, in lanes 0 ... lanes - 1, and back: the numbers are [limbs]. */
void dpi_montgomery_enter(const dpi_montgomery *m, size_t lanes, const mp_limb_t *const *numbers,
                          uint64_t *eight);
void dpi_montgomery_leave(const dpi_montgomery *m, size_t lanes, const uint64_t *eight,
                          mp_limb_t *const *numbers);

/* out = a b; out may be a or b. */
void dpi_montgomery_multiply(const dpi_montgomery *m, size_t lanes, const uint64_t *a,
                             const uint64_t *b, uint64_t *out);

/* Words of the space that dpi_montgomery_power needs. */
size_t dpi_montgomery_power_space(const dpi_montgomery *m);

/* out = base^exponent, for exponents of at most `bits` bits, [ceil(bits / 64)] limbs a lane.  The
 * time depends on bits alone.  out may be base. */
void dpi_montgomery_power(const dpi_montgomery *m, size_t lanes, const uint64_t *base,
                          const mp_limb_t *const *exponent, size_t bits, uint64_t *space,
                          uint64_t *out);

/* `count` bits of a number from bit `at`, as far as it has so many. */
uint64_t dpi_montgomery_window(const mp_limb_t *number, size_t bits, size_t at, size_t count);

#endif
