/* What several owners compute together, as one program: values that are each made once, by an
 * operation on earlier ones.
 *
 * A value has a type and a place:
 *
 *   *   the same at all owners              0   split over records, each owner has its own
 *   +   a sum of what all owners have       1   split over columns of the same records
 *   P   party P's alone
 *   (own)  one of each owner's, of no rows
 *   ~   in shares of three parties, of whom any two together have it
 *
 * Places of inputs are declared, all others follow.  Operations that need several parties are
 * marked (s_sum), and a scheme says what each party does for them (rules.h, split.h).
 *
 * The first error stays and is given by dpi_silo_program_end: calls after it do nothing. */
#ifndef DPI_SILO_PROGRAM_H
#define DPI_SILO_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

#include "base/alloc.h"
#include "silo/part.h"

enum {
    DPI_SILO_DIMS = 2,
    DPI_SILO_VARIABLES = 64,
    DPI_SILO_CARRIED = 8,
    DPI_SILO_ENTRIES = 16,
    DPI_SILO_MOST_NAME = 11, /* bytes of a variable's name */
    DPI_SILO_NONE = UINT16_MAX
};

/* Lengths that are no number: of records, which nobody tells, and of the vector that is opened. */
#define DPI_SILO_UNTOLD UINT64_MAX
#define DPI_SILO_OPENED (UINT64_MAX - 1)

typedef enum dpi_silo_where {
    DPI_SILO_SAME,
    DPI_SILO_BY_ROWS,
    DPI_SILO_BY_COLUMNS,
    DPI_SILO_SUMMED,
    DPI_SILO_AT,
    DPI_SILO_OWN,
    DPI_SILO_SHARED,
    DPI_SILO_N_WHERE
} dpi_silo_where;

typedef struct dpi_silo_place {
    dpi_silo_where where;
    uint16_t party; /* of AT */
} dpi_silo_place;

typedef enum dpi_silo_dtype { DPI_SILO_F64, DPI_SILO_I64, DPI_SILO_STATE } dpi_silo_dtype;

typedef struct dpi_silo_type {
    dpi_silo_dtype dtype;
    size_t n_dims;
    uint64_t dims[DPI_SILO_DIMS];
    dpi_silo_place place;
} dpi_silo_type;

/* Operations: enum, name, arguments, rules of shape and place (place.c).
 *
 *   inquire q x     what each record adds, as integers of bounded norm
 *   sum v           over records and owners         gauss S     with noise
 *   walk q x        in place of these: parameters after steps that an owner takes by itself, and
 *                   moments of the gradients behind them, times its records, as a sum over owners
 *   reveal N        opened                          advance q h     what is asked next
 *
 * and of owners with a factor f each (src/svi/factor.c):
 *
 *   cavity q f      what all have but it            refine c x      after noisy steps from there
 *   offer g         what they change, as a sum      retain g h      one's own factor then
 *
 * and of columns: with w the coefficients of one's own,
 *
 *   bound x         rows as integers of bounded norm
 *   addend w b      of each row's residual, which is the sum of those of all owners
 *   block b s       columns times residuals: the gradient of each owner's coefficients
 *
 * and of a model that is cut in two, with w the parameters of one's own,
 *
 *   gradient w x    of the log likelihood of all rows, of each owner's parameters
 *
 * and of shares, on which block, gauss and reveal are, too:
 *
 *   share b         rows or columns of all owners, side by side, in shares
 *   residual w X    of each row, within a bound
 *   descend X       coefficients after all steps of a regression
 *   return w        opened to owners: to each its own */
#define DPI_SILO_OP_LIST(X)                                                                        \
    X(INPUT, "input", 0, FIRST, LOCAL)                                                             \
    X(INQUIRE, "inquire", 2, RECORDS, LOCAL)                                                       \
    X(SUM, "sum", 1, SUM, SUM)                                                                     \
    X(WALK, "walk", 2, WALK, WALK)                                                                 \
    X(CAVITY, "cavity", 2, FIRST, LOCAL)                                                           \
    X(REFINE, "refine", 2, FIRST, REFINE)                                                          \
    X(OFFER, "offer", 1, WALK, OFFER)                                                              \
    X(RETAIN, "retain", 2, FIRST, LOCAL)                                                           \
    X(GAUSS, "gauss", 1, FIRST, GAUSS)                                                             \
    X(REVEAL, "reveal", 1, FIRST, REVEAL)                                                          \
    X(ADVANCE, "advance", 2, FIRST, LOCAL)                                                         \
    X(BOUND, "bound", 1, INTEGERS, LOCAL)                                                          \
    X(ADDEND, "addend", 2, ROWS, ADDEND)                                                           \
    X(BLOCK, "block", 2, COLUMNS, BLOCK)                                                           \
    X(GRADIENT, "gradient", 2, FIRST, GRADIENT)                                                    \
    X(SHARE, "share", 1, FIRST, SHARE)                                                             \
    X(RESIDUAL, "residual", 2, ROWS, RESIDUAL)                                                     \
    X(DESCEND, "descend", 1, COLUMNS, DESCEND)                                                     \
    X(RETURN, "return", 1, FIRST, RETURN)

typedef enum dpi_silo_op {
#define DPI_SILO_OP_ENUM(name, text, args, shape, place) DPI_SILO_OP_##name,
    DPI_SILO_OP_LIST(DPI_SILO_OP_ENUM)
#undef DPI_SILO_OP_ENUM
        DPI_SILO_N_OPS
} dpi_silo_op;

typedef struct dpi_silo_op_row {
    const char *name;
    size_t args;
    unsigned shape, place; /* of place.c */
} dpi_silo_op_row;

extern const dpi_silo_op_row dpi_silo_ops[DPI_SILO_N_OPS];

typedef struct dpi_silo_variable {
    char name[DPI_SILO_MOST_NAME + 1];
    dpi_silo_op op;
    uint16_t arg[DPI_SILO_ARGS];
    bool marked;     /* needs several parties */
    bool of_records; /* an input that is, or follows from, records where it lies */
    dpi_silo_type type;
} dpi_silo_variable;

/* Openings of a sum, by the variable that is opened; or releases of each owner's own. */
typedef struct dpi_silo_entry {
    uint16_t variable;
    uint64_t times;
    size_t numbers;
    double sigma; /* of the noise that is counted on, by what a record can add; 0: there is none */
    /* Of blocks of columns: what is protected is a record in place of another, which moves them by
     * twice what one can add, and one share of the noise counts, whoever looks. */
    bool replaced;
    double apart; /* how far an opening may be from sum and noise, in total variation */
    bool shared;  /* of three parties' shares: likewise of a record in place of another, and two of
                   * the parties know all */
    bool alone;   /* each owner's own, with all noise: nothing is sent, and the noise counts whoever
                   * else looks */
} dpi_silo_entry;

typedef struct dpi_silo_carry {
    uint16_t input, variable;
} dpi_silo_carry;

/* Who takes part, and what is known of them beforehand. */
typedef struct dpi_silo_parties {
    uint16_t n, aggregator;
    char names[DPI_SILO_PARTIES][DPI_SILO_NAME];
    uint64_t helpers;           /* that have no records and are no owners, a bit each */
    size_t colluders, dropouts; /* that noise is made for */
    uint64_t most_records;      /* of one owner */
} dpi_silo_parties;

typedef struct dpi_silo_program {
    dpi_silo_parties who;
    size_t n_variables, n_carried, n_entries;
    dpi_silo_variable variables[DPI_SILO_VARIABLES];
    dpi_silo_carry carried[DPI_SILO_CARRIED];
    dpi_silo_entry entries[DPI_SILO_ENTRIES];
    double delta; /* that epsilon is told at; 0: none is */
    dp_error error;
} dpi_silo_program;

/* Empties *p.  Records wrong numbers of parties in it. */
void dpi_silo_program_begin(dpi_silo_program *p, const dpi_silo_parties *who);

/* A value that is there at the beginning; of_records: at each party that has it, it follows from
 * that party's records. */
uint16_t dpi_silo_input(dpi_silo_program *p, const char *name, dpi_silo_type type, bool of_records);

/* name = op a b; arguments beyond the operation's are not looked at.  DPI_SILO_NONE after an
 * error. */
uint16_t dpi_silo_call(dpi_silo_program *p, const char *name, dpi_silo_op op, uint16_t a,
                       uint16_t b);

/* What an input is in the next step. */
void dpi_silo_carried(dpi_silo_program *p, uint16_t input, uint16_t variable);

/* Openings that there will be; the account is of those with noise. */
void dpi_silo_account(dpi_silo_program *p, const dpi_silo_entry *entry);

/* The first error, or DP_OK: DP_ESHAPE shapes and places do not fit, DP_ENAME a name is twice or
 * none, DP_EINVAL. */
dp_status dpi_silo_program_end(const dpi_silo_program *p, dp_error *err) DP_MUST_CHECK;

/* Whether sums of all owners fit 64 bits, with noise and all: else DP_EUNSUPPORTED. */
dp_status dpi_silo_check_ranges(const dpi_silo_program *p, dp_error *err) DP_MUST_CHECK;

/* Type and mark of a variable whose operation and arguments are set (place.c).  Errors go into
 * p->error, and false. */
bool dpi_silo_infer(dpi_silo_program *p, dpi_silo_variable *v);

/* The variable of a name of n bytes; DPI_SILO_NONE. */
uint16_t dpi_silo_find(const dpi_silo_program *p, const char *name, size_t n);

/* All parties, a bit each. */
uint64_t dpi_silo_everyone(const dpi_silo_parties *who);

/* All that have records. */
uint64_t dpi_silo_owners(const dpi_silo_parties *who);

/* "*", "0", "1", "+", "(own)", "~", or the party's name. */
const char *dpi_silo_place_text(const dpi_silo_parties *who, dpi_silo_place place);

#endif
