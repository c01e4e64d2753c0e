/* Labels: what the check knows of a value, and what steps do to them (check.c). */
#ifndef DPI_SILO_LABELS_H
#define DPI_SILO_LABELS_H

#include "silo/part.h"
#include "silo/program.h"

typedef enum dpi_label_form {
    DPI_LABEL_ABSENT,
    DPI_LABEL_CLEAR,
    DPI_LABEL_MASKED,
    DPI_LABEL_ROSTER,
    DPI_LABEL_CONSENT,
    DPI_LABEL_KEYS,
    DPI_LABEL_COLUMNS, /* encrypted, row by row */
    DPI_LABEL_ANSWER,  /* encrypted: what was made of encrypted columns */
    DPI_LABEL_KEYPART, /* of a key of all but the aggregator: a public part of it */
    DPI_LABEL_SEALED,  /* what its owners see of a vector that is encrypted under it */
    DPI_LABEL_COVERED, /* and what the aggregator does */
    DPI_LABEL_AGREED,  /* that an owner has what the others have */
    DPI_LABEL_PARTIAL, /* what a share takes off the sum */
    DPI_LABEL_DEALT,   /* of three parties' shares: what each has its own of, and no other */
    DPI_LABEL_SHARE,   /* a party's share: alone it is uniform, with another one it is the value */
    DPI_LABEL_OPENED   /* a share that is told, so that who has all of them has the value */
} dpi_label_form;

/* Whose value of a register a step reads: this party's own, the aggregator's, everybody's, all
 * others', everybody's but the aggregator's, that of all who have records. */
typedef enum dpi_label_whose {
    DPI_LABEL_OWN,
    DPI_LABEL_AGGREGATOR,
    DPI_LABEL_EVERYBODY,
    DPI_LABEL_OTHERS,
    DPI_LABEL_REST,
    DPI_LABEL_OWNERS
} dpi_label_whose;

/* What a step works on, and makes; ABSENT: nothing is known of it. */
typedef struct dpi_label_effect {
    dpi_label_form in[DPI_SILO_ARGS], out;
    dpi_label_whose of[DPI_SILO_ARGS];
} dpi_label_effect;

extern const dpi_label_effect dpi_label_effects[DPI_SILO_N_STEPS];

/* Of a value at a party. */
typedef struct dpi_label {
    dpi_label_form form;
    uint64_t raw;     /* parties whose records it follows from, but for releases */
    uint64_t through; /* and through releases; */
    uint64_t alone;   /* whose of these are its own, with all their noise */
    uint64_t shares;  /* of noise, whose */
    uint16_t noise;   /* variable that they were added to, or DPI_SILO_NONE */
    bool rows;        /* row by row: each of one record */
    bool bounded;     /* what a record adds to it is: it is of inquire, whose question was public */
    bool summed;      /* over this party's records, or more, or of all of them at once */
    bool named;       /* raw is all through what clauses let everybody see */
    uint16_t key;     /* of what is encrypted: who can open it */
    uint16_t value;   /* of a share: the variable that it is of */
} dpi_label;

/* Of the values of a register, by who has sent them. */
typedef struct dpi_labels {
    dpi_label from[DPI_SILO_PARTIES];
} dpi_labels;

/* Adds what another value follows from. */
void dpi_label_follow(dpi_label *l, const dpi_label *from);

/* Parties whose value of its argument a step of party k reads, a bit each. */
uint64_t dpi_label_read(const dpi_silo_parties *who, size_t k, dpi_label_whose of);

/* Why a value of this form may not be sent to a party, which is the aggregator or not, as "keys are
 * not for "; NULL: it may. */
const char *dpi_label_stays(dpi_label_form form, bool to_aggregator);

/* Whether the sum of what n parties have sent is a release: of each its own records' sum, to which
 * a record adds within the bound, with its own share of one noise. */
bool dpi_label_is_release(size_t n, const dpi_labels *sent);

/* Whether it is all but a release to party k: sums of records, to which one adds within the bound,
 * with the noise of everybody else, k's own being known to k. */
bool dpi_label_is_veiled(const dpi_silo_parties *who, size_t k, const dpi_label *l);

/* Columns times numbers of the same rows: whether that is a sum, and what a record adds bounded. */
void dpi_label_multiply(dpi_label *l, const dpi_label *columns, const dpi_label *numbers);

/* Completes the label of what a step of one party alone makes: `first` and `second` are its
 * arguments', `made` is the variable of its result. */
void dpi_label_make(dpi_label *l, const dpi_silo_step *s, size_t party, const dpi_label *first,
                    const dpi_label *second, uint16_t made);

#endif
