/* Steps of a plan under encryption: values are ciphertexts, each as bytes at one place. */
#ifndef DPI_CLUSTER_CARDS_H
#define DPI_CLUSTER_CARDS_H

#include "cluster/run.h"
#include "fhe/linear.h"

/* All of it is the caller's, and is there as long as the cards are. */
typedef struct dpi_card_keys {
    const dpi_ckks *c;
    size_t top; /* the level of what the plan has at level 0, and has depth for all of it */
    const dpi_ckks_switch *square;
    dpi_ckks_turns turns;
    const dpi_ckks_plain *plain; /* [n_plains] that TIMES names, each at the level of its step */
} dpi_card_keys;

typedef struct dpi_cards dpi_cards;

/* Rooms for so many workers.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_cards_new(const dpi_card_keys *keys, size_t workers, dpi_cards **cards,
                                      dp_error *err);
void dpi_cards_free(dpi_cards *cards);

/* Steps with the bounds of ciphertexts; of TWICE the places are between -1 and 1, as Chebyshev
 * polynomials are.  What only takes time (WORK), raising of a modulus, and a rotation without a
 * key are misuse. */
dpi_card_kind dpi_cards_kind(dpi_cards *cards);

/* A ciphertext at the level of a value, and a value's: x has room for it.  It is no message to be
 * trusted: cards are those of one owner. */
void dpi_card_write(const dpi_cards *cards, const dpi_ckks_cipher *x, void *value);
void dpi_card_read(const dpi_cards *cards, const void *value, dpi_ckks_cipher *x);

#endif
