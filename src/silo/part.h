/* What one owner runs of a program that several run together: steps over registers.
 *
 * A register holds bytes, or 64-bit words with their little end first, of a size that is fixed
 * beforehand.  A register that several parties have sent here has one value a sender; a step that
 * reads it gets all of them.  Steps of kind HOST are done by what drives the part (a fit), which
 * hands over and takes registers; the others have kernels (execute.h). */
#ifndef DPI_SILO_PART_H
#define DPI_SILO_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

enum { DPI_SILO_NAME = 24, DPI_SILO_PARTIES = 64, DPI_SILO_ARGS = 3, DPI_SILO_BLOCK = 8192 };

/* Steps: enum, name as in dumps and rules, arguments, what it does.
 *
 * The fit's own, at one owner:
 *   inquire   what each record adds: integers of bounded norm, sharded over records
 *   isum      their sum here
 *   walk      parameters after steps on this owner's records alone, and moments of the gradients
 *             behind them, times how many these are
 *   dgauss    adds this owner's share of the noise
 *   cavity    what all have, without this owner's own factor
 *   refine    where steps come to whose sums over this owner's records have noise, all of it this
 *             owner's
 *   offer     what they have changed, as words
 *   retain    this owner's factor after that
 *   advance   what is asked next, of what has been opened; the same at all owners
 * Moving:
 *   send, recv  a register to, or from, another party
 * A secure sum (masks.h):
 *   mask      hides a vector of words by masks that cancel over all owners
 *   roster    at the aggregator: the set of owners whose masked vectors are here
 *   consent   this owner's signature under that set, once
 *   unlock    checks all signatures and reveals what the set's masks do not cancel
 *   addall    at the aggregator: the sum, without masks
 * Without protection:
 *   plain     the vector as it is
 *   addplain  at the aggregator: their sum
 * A sum under a key of all but the aggregator, who has no share of it (key-sum.h):
 *   keypart   this owner's part of the key, once in a run
 *   sealed    of this owner's encrypted vector what the other owners of the key must see
 *   cover     and what the aggregator must: the vector, covered
 *   agree     a digest of what the owners of the key have of each other
 *   partial   where all have the same: what this owner's share takes off the sum, and no single one
 *   combine   at the aggregator: the sum, and its own vector
 * And then
 *   open      the opened sum as words, its checksum looked at
 * Columns of the same people at two owners (columns-sum.h):
 *   bound     this owner's rows as integers of bounded norm
 *   addend    of each row's residual, an integer of bounded magnitude
 *   inner     own columns times own addends, summed over rows
 *   encrypt   own columns, under a key of this owner's
 *   answer    the other's encrypted columns times own addends, summed over rows
 *   veil      the same, and in it this owner's share of the noise
 *   unveil    the other's answer, opened, and one's own part: their sum
 * A model that is cut in two at two owners (halves.h):
 *   embed     of each row, what own columns come to at the cut
 *   adjoint   of each row, the slope of its log likelihood in what the other has sent
 *   slope     of the log likelihood in own parameters, summed over rows, from the same
 *   pullback  the same, from adjoints that the other has sent
 * Shares of three parties (share/trio.h), of whom any two have what is shared:
 *   deal      own columns, for each party its share of them
 *   gather    what all owners have dealt, side by side
 *   residual  of each row, from coefficients that all have; cut to its bound
 *   tally     columns times residuals, summed over rows
 *   shroud    a share of the noise, dealt
 *   blend     a sum, and in it everybody's noise
 *   descend   all steps of a regression
 *   disclose  this party's share of what is opened
 *   join      what the shares of all are of */
#define DPI_SILO_STEP_LIST(X)                                                                      \
    X(INQUIRE, "inquire", 2, true)                                                                 \
    X(ISUM, "isum", 1, true)                                                                       \
    X(WALK, "walk", 2, true)                                                                       \
    X(DGAUSS, "dgauss", 1, true)                                                                   \
    X(CAVITY, "cavity", 2, true)                                                                   \
    X(REFINE, "refine", 2, true)                                                                   \
    X(OFFER, "offer", 1, true)                                                                     \
    X(RETAIN, "retain", 2, true)                                                                   \
    X(ADVANCE, "advance", 2, true)                                                                 \
    X(SEND, "send", 1, false)                                                                      \
    X(RECV, "recv", 0, false)                                                                      \
    X(MASK, "mask", 1, false)                                                                      \
    X(ROSTER, "roster", 1, false)                                                                  \
    X(CONSENT, "consent", 1, false)                                                                \
    X(UNLOCK, "unlock", 2, false)                                                                  \
    X(ADDALL, "addall", 3, false)                                                                  \
    X(PLAIN, "plain", 1, false)                                                                    \
    X(ADDPLAIN, "addplain", 1, false)                                                              \
    X(OPEN, "open", 1, false)                                                                      \
    X(KEYPART, "keypart", 0, false)                                                                \
    X(SEALED, "sealed", 2, false)                                                                  \
    X(COVER, "cover", 2, false)                                                                    \
    X(AGREE, "agree", 1, false)                                                                    \
    X(PARTIAL, "partial", 2, false)                                                                \
    X(COMBINE, "combine", 3, false)                                                                \
    X(BOUND, "bound", 1, false)                                                                    \
    X(ADDEND, "addend", 2, false)                                                                  \
    X(INNER, "inner", 2, false)                                                                    \
    X(ENCRYPT, "encrypt", 1, false)                                                                \
    X(ANSWER, "answer", 2, false)                                                                  \
    X(VEIL, "veil", 2, false)                                                                      \
    X(UNVEIL, "unveil", 2, false)                                                                  \
    X(EMBED, "embed", 2, false)                                                                    \
    X(ADJOINT, "adjoint", 3, false)                                                                \
    X(SLOPE, "slope", 3, false)                                                                    \
    X(PULLBACK, "pullback", 3, false)                                                              \
    X(DEAL, "deal", 1, false)                                                                      \
    X(GATHER, "gather", 1, false)                                                                  \
    X(RESIDUAL, "residual", 2, false)                                                              \
    X(TALLY, "tally", 2, false)                                                                    \
    X(SHROUD, "shroud", 0, false)                                                                  \
    X(BLEND, "blend", 2, false)                                                                    \
    X(DESCEND, "descend", 1, false)                                                                \
    X(DISCLOSE, "disclose", 1, false)                                                              \
    X(JOIN, "join", 1, false)

typedef enum dpi_silo_step_kind {
#define DPI_SILO_STEP_ENUM(name, text, args, host) DPI_SILO_##name,
    DPI_SILO_STEP_LIST(DPI_SILO_STEP_ENUM)
#undef DPI_SILO_STEP_ENUM
        DPI_SILO_N_STEPS
} dpi_silo_step_kind;

/* Name and number of arguments of a kind, and whether the host does it. */
const char *dpi_silo_step_name(dpi_silo_step_kind kind);
int dpi_silo_step_args(dpi_silo_step_kind kind);
bool dpi_silo_step_is_host(dpi_silo_step_kind kind);

/* Whether it is of a sum under a key: KEYPART ... COMBINE. */
bool dpi_silo_step_is_of_key(dpi_silo_step_kind kind);

/* Whether it is of shares of three parties: DEAL ... JOIN. */
bool dpi_silo_step_is_of_shares(dpi_silo_step_kind kind);

/* The kind of a name, DPI_SILO_N_STEPS for none. */
dpi_silo_step_kind dpi_silo_step_named(const char *name);

typedef struct dpi_silo_step {
    dpi_silo_step_kind kind;
    uint16_t out;               /* register; of send, the one that is sent */
    uint16_t in[DPI_SILO_ARGS]; /* registers */
    uint16_t peer;              /* of send and recv: a party */
    bool may_lack;              /* of recv: the sender may have dropped out */
    bool once;                  /* in the first round alone */
} dpi_silo_step;

typedef struct dpi_silo_register {
    char name[DPI_SILO_NAME]; /* as in dumps: "h", "h.m" */
    /* Its size is `words` 64-bit words and `bytes` more; where `scales`, the words are those of
     * the vector that is opened, times `words`.  To it come `fraction` bytes for each word of that
     * vector and its check word, and `block` bytes for each DPI_SILO_BLOCK of these, the last of
     * which need not be full. */
    uint32_t words, bytes, fraction, block;
    bool scales;
    bool encrypted; /* its size is another: that of the encryption, or of shares of rows */
} dpi_silo_register;

/* Bytes of a register's value where the vector that is opened has n words. */
DPI_INLINE size_t dpi_silo_register_size(const dpi_silo_register *r, size_t n)
{
    return r->words * sizeof(uint64_t) * (r->scales ? n : 1) + r->bytes + r->fraction * (n + 1) +
           r->block * (n / DPI_SILO_BLOCK + 1);
}

/* Whether two registers have the same size for every vector. */
DPI_INLINE bool dpi_silo_same_size(const dpi_silo_register *a, const dpi_silo_register *b)
{
    return a->words == b->words && a->bytes == b->bytes && a->fraction == b->fraction &&
           a->block == b->block && a->scales == b->scales && a->encrypted == b->encrypted;
}

/* One party's part of a round.  Party numbers are those of the plan, from 0. */
typedef struct dpi_silo_part {
    uint16_t party, parties, aggregator;
    size_t n_registers, n_steps;
    const dpi_silo_register *registers;
    const dpi_silo_step *steps;
} dpi_silo_part;

/* Whether a part has steps of a sum under a key, or of shares. */
bool dpi_silo_has_key(const dpi_silo_part *part);
bool dpi_silo_has_shares(const dpi_silo_part *part);

#endif
