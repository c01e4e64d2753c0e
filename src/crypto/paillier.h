/* Paillier's additively homomorphic scheme (Eurocrypt 1999).
 *
 *   n = p q, E(m) = (1 + m n) s^r mod n^2, s = (-x^2)^n mod n^2, r of half as many bits as n
 *
 * The product of two ciphertexts encrypts the sum of the messages.  Messages are signed; v < 0
 * stands for n + v.  Each side draws its own x, so the public key is n alone (the short exponents
 * are of Damgard, Jurik and Nielsen, International Journal of Information Security 9, 2010).
 *
 * Ciphertexts are [dpi_paillier_limbs] limbs each, one behind the other.  Keys are const once made
 * and shared by threads.  The key's holder encrypts and decrypts in time that depends on sizes
 * alone. */
#ifndef DPI_CRYPTO_PAILLIER_H
#define DPI_CRYPTO_PAILLIER_H

#include "crypto/limbs.h"
#include "crypto/montgomery.h"

typedef struct dpi_paillier_options {
    size_t bits;          /* of n: 2048 or 3072; others, multiples of 128, are for tests */
    size_t exponent_bits; /* of r, a multiple of 64; 0: half of bits.  448 assumes more: that
                             discrete logarithms of 448 bits are out of reach in this group */
    const dpi_montgomery_backend *backend; /* NULL: the fastest */
    bool whole_alone; /* of public keys: no table for short exponents, of which all encryptions but
                         dpi_paillier_whole_zeros are */
} dpi_paillier_options;

struct dpi_slots;
typedef struct dpi_paillier_public dpi_paillier_public; /* what the other side computes with */
typedef struct dpi_paillier_key dpi_paillier_key;       /* what can decrypt */

/* A key of two random primes.  *key [out] owned by the caller, NULL on error.  DP_EINVAL,
 * DP_ENOMEM, DP_EENTROPY. */
DP_MUST_CHECK dp_status dpi_paillier_generate(const dpi_paillier_options *options,
                                              dpi_paillier_key **key, dp_error *err);

/* For tests alone: from a seed (NULL: the system's randomness), and from primes [limbs] of one
 * size, which are not tested. */
DP_MUST_CHECK dp_status dpi_paillier_generate_seeded(const dpi_paillier_options *options,
                                                     dpi_seed *seed, dpi_paillier_key **key,
                                                     dp_error *err);
DP_MUST_CHECK dp_status dpi_paillier_of_primes(const dpi_paillier_options *options, size_t limbs,
                                               const mp_limb_t *p, const mp_limb_t *q,
                                               dpi_paillier_key **key, dp_error *err);

/* Wipes and frees; NULL is allowed. */
void dpi_paillier_free(dpi_paillier_key *key);

/* The key that is sent: n in bits / 8 bytes, lowest first, and the proof of proof.h. */
size_t dpi_paillier_public_bytes(size_t bits);
void dpi_paillier_write_public(const dpi_paillier_key *key, unsigned char *bytes);

/* limbs [out] of n, borrowed. */
const mp_limb_t *dpi_paillier_modulus(const dpi_paillier_key *key, size_t *limbs);

/* A key that another side has sent, of options->bits; refused (DP_EPEER) unless it has exactly so
 * many bits, is odd and neither prime nor a power nor divisible by a prime below 2^16, and the
 * proof holds.  Makes the table for encryption, which is a third of the work, or two with GMP.
 * DP_EINVAL, DP_ENOMEM, DP_EENTROPY. */
DP_MUST_CHECK dp_status dpi_paillier_read_public(const dpi_paillier_options *options, size_t n,
                                                 const unsigned char *bytes,
                                                 dpi_paillier_public **key, dp_error *err);

/* The same of a modulus [limbs] that is not checked: for the holder itself, and tests. */
DP_MUST_CHECK dp_status dpi_paillier_public_new(const dpi_paillier_options *options, size_t limbs,
                                                const mp_limb_t *n, dpi_paillier_public **key,
                                                dp_error *err);
void dpi_paillier_public_free(dpi_paillier_public *key);

/* Limbs of a ciphertext: 2 ceil(bits / 64) where bits is a multiple of 128. */
size_t dpi_paillier_limbs(const dpi_paillier_key *key);
size_t dpi_paillier_public_limbs(const dpi_paillier_public *key);

/* c[count] = fresh encryptions of m[count], by the holder. */
DP_MUST_CHECK dp_status dpi_paillier_encrypt(const dpi_paillier_key *key, size_t count,
                                             const int64_t *m, mp_limb_t *c, dp_error *err);

/* The same for one number of any size; DP_EDOMAIN unless |m| < n / 2.  An mpz_t is not wiped. */
DP_MUST_CHECK dp_status dpi_paillier_encrypt_wide(const dpi_paillier_key *key, const mpz_t m,
                                                  mp_limb_t *c, dp_error *err);

/* m[count] = what ciphertexts hold.  DP_EPEER, and m is zeros, when one of them is beyond +-bound
 * or no ciphertext at all: the other side must not learn which, nor that. */
DP_MUST_CHECK dp_status dpi_paillier_decrypt(const dpi_paillier_key *key, size_t count,
                                             const mp_limb_t *c, int64_t bound, int64_t *m,
                                             dp_error *err);

/* The same for one number of any size. */
DP_MUST_CHECK dp_status dpi_paillier_decrypt_wide(const dpi_paillier_key *key, const mp_limb_t *c,
                                                  mpz_t m, dp_error *err);

/* c[count] = fresh encryptions of m[count] (NULL: of zeros), by the other side. */
DP_MUST_CHECK dp_status dpi_paillier_encrypt_public(const dpi_paillier_public *key, size_t count,
                                                    const int64_t *m, mp_limb_t *c, dp_error *err);

/* c[count] = y^n mod n^2 for y uniform in Z_n^*: encryptions of zero that hide all of a ciphertext
 * but its message, also from who has the primes and has chosen them and the ciphertext ill; eight
 * cost as much as one.  The short exponents of other encryptions hide messages from who has not the
 * primes, and no more: who has them may find discrete logarithms modulo each. */
DP_MUST_CHECK dp_status dpi_paillier_whole_zeros(const dpi_paillier_public *key, size_t count,
                                                 mp_limb_t *c, dp_error *err);

/* c[count] = encryptions of m[count] without randomness, 1 + m n, to be multiplied with such of
 * zero.  With slots (slots.h; NULL: one) each message stands in every slot. */
void dpi_paillier_encode_public(const dpi_paillier_public *key, const struct dpi_slots *slots,
                                size_t count, const int64_t *m, mp_limb_t *c);

/* step[count] = z n mod n^2 of ciphertexts z[count].  Those of zero become encryptions of m[count]
 * in place by z (1 + m n) = z + m step, for far less than a product modulo n^2.  Time depends on
 * counts alone. */
void dpi_paillier_make_steps(const dpi_paillier_public *key, size_t count, const mp_limb_t *z,
                             mp_limb_t *step);
void dpi_paillier_add_steps(const dpi_paillier_public *key, size_t count, const int64_t *m,
                            const mp_limb_t *step, mp_limb_t *z);

/* DP_EPEER unless each of them is above 0, below n^2 and coprime to n. */
DP_MUST_CHECK dp_status dpi_paillier_check(const dpi_paillier_public *key, size_t count,
                                           const mp_limb_t *c, dp_error *err);

/* The arithmetic modulo n^2; borrowed. */
const dpi_montgomery *dpi_paillier_public_ring(const dpi_paillier_public *key);

#endif
