/* What a party was given of a model, and what it makes of it.
 *
 * All weights and biases of the program, stage after stage, are one list of numbers; a party has
 * all components of them but its own.  The roles that it plays need different sums of components,
 * so each lane has its own, made when it is first asked for and shared by all sessions. */
#ifndef DPI_SERVE_PARTY_MODEL_H
#define DPI_SERVE_PARTY_MODEL_H

#include <pthread.h>

#include "serve/party-talk.h"
#include "share/deal.h"

/* The component of weights that is sent as numbers is that of this machine, which so gets none. */
enum { DPI_MODEL_FULL = 0 };

typedef struct dpi_party_model {
    size_t refs; /* whoever counts them locks */
    unsigned char share[DPI_PARTY_SHARE], hash[DP_PROGRAM_HASH];
    unsigned char *sheet;
    size_t sheet_bytes;
    dp_program *program; /* of the sheet */
    const dpi_share_row *row;
    size_t machine;
    bool probabilistic; /* shifts round by chance */
    dpi_ring ring;
    int bits; /* of a number of the answer that are told */
    size_t n; /* weights and biases */
    unsigned char seed[DPI_SHARE_PARTIES][DPI_DEAL_SEED];
    void *full;                                                /* [n]; NULL on the machine */
    unsigned char digest[DPI_SHARE_PARTIES][DPI_PARTY_DIGEST]; /* of each component */
    pthread_mutex_t lock;
    dpi_share *lane[DPI_PARTY_LANES]; /* what this machine holds; NULL: not asked for yet */
} dpi_party_model;

/* Takes a model from its provider, who has said hello, up to where it waits for the others: then
 * dpi_party_model_confirm.  *model [out] with one reference; NULL where it was refused, which is no
 * error, or on error.  `labels`: no other program is taken than one that ends with an argmax. */
dp_status dpi_party_model_take(const dp_parties *parties, size_t machine, bool labels,
                               dpi_wire_session *wire, const dpi_party_hello *hello,
                               uint32_t within, dpi_party_model **model,
                               dp_error *err) DP_MUST_CHECK;
void dpi_party_model_free(dpi_party_model *model);

/* A hash of what this party and machine `with` have both been given. */
void dpi_party_model_view(const dpi_party_model *model, size_t with,
                          unsigned char view[DPI_PARTY_DIGEST]);

/* What the machine holds in a lane, as long as the model.  DP_ENOMEM.  Thread-safe. */
dp_status dpi_party_model_lane(dpi_party_model *model, size_t lane, const dpi_share **held,
                               dp_error *err) DP_MUST_CHECK;

#endif
