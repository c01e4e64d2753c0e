/* Which ids two owners have both, and in which common order, by exponents in a group
 * (doc/design/silo-columns.md).
 *
 *   P(x) = a point of ristretto255 made of BLAKE2b-512 under the run's key of domain and id x
 *   each owner   sends {s P(x)} in order of bytes, s of this run alone; gets {s' P(y)} of the
 *                other returns {s s' P(y)} in the order they came; gets {s' s P(x)}
 *   both         have the tokens s s' P of either side: those on both are the common ids, and their
 *                order by bytes is the order of rows
 *
 * So no list of rows travels.  Both learn how many ids the other has (or pads to) and which of
 * their own are common; the other ids are as hidden as discrete logarithms are hard.  An owner may
 * try any id that it can think of by saying that it has it: against that there is no protection but
 * the agreement to use true lists, and how many may be in them.
 *
 * An id is compared without spaces, tabs and line ends at either end, and with A ... Z as a ... z.
 * An object belongs to one thread; inside it uses several. */
#ifndef DPI_SILO_PSI_H
#define DPI_SILO_PSI_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "silo/post.h"

enum { DPI_PSI_POINT = 32, DPI_PSI_KEY = 32, DPI_PSI_MOST = 1 << 24 };

typedef struct dpi_psi_opts {
    const char *domain;             /* what ids are of: the same at both owners */
    unsigned char key[DPI_PSI_KEY]; /* of the run, the same at both owners */
    /* What the exponent and points that pad follow from, and whoever knows it knows them; NULL: the
     * system's generator. */
    const unsigned char *seed; /* [DPI_PSI_KEY] */
    size_t padded;             /* points that are sent, the rest being random; 0: as ids */
    size_t most;               /* ids of the other that are answered; 0: DPI_PSI_MOST */
    size_t threads;            /* 0: 1 */
} dpi_psi_opts;

typedef struct dpi_psi dpi_psi;

/* Makes the points of ids[n], which are not kept; n may be 0.
 * DP_EDATA an id is empty, or two are the same (which, is not told); DP_EINVAL more than `padded`
 * or DPI_PSI_MOST; DP_ENOMEM, DP_EENTROPY. */
DP_MUST_CHECK dp_status dpi_psi_new(const dpi_psi_opts *opts, size_t n, const char *const *ids,
                                    dpi_psi **psi, dp_error *err);

/* What dpi_psi_new finds of ids alone, before anything is sent: DP_EDATA one is empty, or two are
 * the same; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_psi_check_ids(size_t n, const char *const *ids, dp_error *err);

/* A text for a list of ids in its order, [DPI_PSI_LIST]: two lists have the same where they are.
 * Who has it can try lists; so it is linked, as an id of its own, and not shown. */
enum { DPI_PSI_LIST = 65 };
void dpi_psi_list(size_t n, const char *const *ids, char text[DPI_PSI_LIST]);

void dpi_psi_free(dpi_psi *psi); /* wipes; NULL is allowed */

/* What is sent: points[count][DPI_PSI_POINT], borrowed. */
const unsigned char *dpi_psi_points(const dpi_psi *psi, size_t *count);

/* Raises the other's points[m], in their order, and keeps the tokens.
 * DP_EPEER one is no point or the identity, or they are not in ascending order, each once;
 * DP_ESTATE called twice; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_psi_raise(dpi_psi *psi, size_t m,
                                      const unsigned char *points /* [m][DPI_PSI_POINT] */,
                                      unsigned char *tokens /* [m][DPI_PSI_POINT] */,
                                      dp_error *err);

/* Compares with the tokens of one's own points, which the other returned in their order.
 *   *common  [out] ids on both sides
 *   rows     [out] [n as of dpi_psi_new] the first *common: numbers of these ids in the common
 *   order print    [out] hash of the common tokens: equal at both where both have the same
 * DP_EPEER two returned tokens are the same; DP_ESTATE before dpi_psi_raise; DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_psi_match(dpi_psi *psi,
                                      const unsigned char *returned /* [count][DPI_PSI_POINT] */,
                                      size_t *common, size_t *rows, unsigned char print[32],
                                      dp_error *err);

/* How two parties swap messages: own[n] goes to the other, whose call of that name takes it as
 * others[m]. */
typedef struct dpi_psi_way {
    dp_status (*swap)(void *of, const char *name, size_t n, const unsigned char *own, size_t m,
                      unsigned char *others, dp_error *err);
    void *of;
} dpi_psi_way;

/* All of it with another party, in four messages each way.  After an error *common is 0.  As above;
 * errors of the way; DP_EPEER the two have not come to the same rows, or the other has more than
 * opts->most ids: of these nothing is told then. */
DP_MUST_CHECK dp_status dpi_psi_link_by(const dpi_psi_way *way, const dpi_psi_opts *opts, size_t n,
                                        const char *const *ids, size_t *common,
                                        size_t *rows /* [n] */, dp_error *err);

/* The same by letters "psi.n", "psi.p", "psi.t" and "psi.h" of a round and attempt, under the two
 * parties' own key (opts->key is not read).  Errors of the post. */
DP_MUST_CHECK dp_status dpi_psi_link(dpi_post *post, size_t peer, uint64_t round, uint32_t attempt,
                                     const dpi_psi_opts *opts, size_t n, const char *const *ids,
                                     size_t *common, size_t *rows /* [n] */, dp_error *err);

#endif
