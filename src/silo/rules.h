/* Schemes: what each party does for an operation that needs several, and what may be seen of it.
 *
 * A rule is text, of statements with ; between:
 *
 *   WHO: NAME = STEP NAME ...        a step of part.h
 *   WHO: send NAME WHOM              to each of them but oneself; "send?": it may be lacking where
 *                                    owners may drop out
 *   once WHO: ...                    in the first step of all alone
 *
 * x0, x1, x2 are the operation's arguments, o its result, other names are the rule's own; x0.c is c
 * of the rule of what x0 is, and x0.x1 that operation's argument.  WHO is "each", all parties,
 * "agg", the one that adds up, "rest", all but that one, or "own", all that have records.
 *
 * The first rule of an operation whose place is that of the first argument holds.  What becomes
 * visible in the clear to a party, and is neither its own nor a release, must be named by a
 * clause. */
#ifndef DPI_SILO_RULES_H
#define DPI_SILO_RULES_H

#include "silo/program.h"

enum { DPI_SILO_LOCAL_NAME = 8, DPI_SILO_STATEMENTS = 16 };

typedef struct dpi_silo_rule {
    const char *op, *place, *steps;
} dpi_silo_rule;

/* That a value of a rule, by its name there, is seen by whom. */
typedef struct dpi_silo_clause {
    const char *op, *value, *to, *why;
} dpi_silo_clause;

/* Schemes: C name, name, whether there is noise before anything is opened, whether that is of
 * parameters after steps of each owner's own, what it is. */
#define DPI_SILO_SCHEME_LIST(X)                                                                    \
    X(secagg_dp, "secagg+dp", true, false,                                                         \
      "sums of all owners with noise of all, opened by none alone: nobody sees a single owner's")  \
    X(dp_pvi, "dp-pvi", true, true,                                                                \
      "what each owner's own noisy steps change of its factor of the posterior, of which the sum " \
      "alone is opened: few rounds, each record by the noise of its owner")                        \
    X(fedsgd, "fedsgd", false, false,                                                              \
      "sums without noise, which one owner adds up, and sees each of")                             \
    X(fedsgd_he, "fedsgd+he", false, false,                                                        \
      "sums without noise, under a key of all but who adds up: nobody sees a single owner's")      \
    X(fedavg, "fedavg", false, true,                                                               \
      "means of parameters after each owner's own steps, of which one owner sees those of each")   \
    X(fedavg_he, "fedavg+he", false, true,                                                         \
      "means of parameters after each owner's own steps, under a key of all but who adds up: "     \
      "nobody sees a single owner's")

/* The same of columns of the same records at two owners: C name, name, noise, whether its clauses
 * name values of single records and not sums over them, what it is. */
#define DPI_SILO_COLUMN_SCHEME_LIST(X)                                                             \
    X(columns_dp, "columns+dp", true, false,                                                       \
      "columns of the same people at two owners: gradients on encrypted columns, with noise of "   \
      "both")                                                                                      \
    X(columns, "columns", false, false,                                                            \
      "columns of the same people at two owners: each sees the exact gradients of its own")        \
    X(split, "split", false, true,                                                                 \
      "split learning of columns of the same people at two owners: each sees numbers of every "    \
      "single record of the other")

/* The same of records in shares at three parties. */
#define DPI_SILO_TRIO_SCHEME_LIST(X)                                                               \
    X(trio_dp, "trio+dp", true,                                                                    \
      "columns or rows in shares at three parties, of whom any two together know all rows: each "  \
      "sees gradients with noise of all, and no more")                                             \
    X(trio, "trio", false,                                                                         \
      "columns or rows in shares at three parties, of whom any two together know all rows: each "  \
      "sees the exact coefficients that it is told, and no more")

typedef struct dpi_silo_scheme {
    const char *name, *about;
    bool noisy, by_columns, averages, shared, single;
    size_t n_rules, n_clauses;
    const dpi_silo_rule *rules;
    const dpi_silo_clause *clauses;
} dpi_silo_scheme;

/* The scheme of a name, static; NULL for none. */
const dpi_silo_scheme *dpi_silo_scheme_named(const char *name);

/* Whether some rule of it has the word, such as a step's name, or "send?". */
bool dpi_silo_scheme_says(const dpi_silo_scheme *scheme, const char *word);

typedef enum dpi_silo_role {
    DPI_SILO_EACH,
    DPI_SILO_AGG,
    DPI_SILO_REST,
    DPI_SILO_OWNERS,
    DPI_SILO_N_ROLES
} dpi_silo_role;

/* The role of a name, DPI_SILO_N_ROLES for none. */
dpi_silo_role dpi_silo_role_of(const char *name);

typedef struct dpi_silo_statement {
    dpi_silo_role who, whom; /* whom: of send */
    dpi_silo_step_kind kind;
    char out[DPI_SILO_LOCAL_NAME + 1]; /* of send: what is sent */
    char in[DPI_SILO_ARGS][DPI_SILO_LOCAL_NAME + 1];
    bool may_lack, once;
} dpi_silo_statement;

/* Reads a rule.  DP_EINVAL naming the rule and what is wrong. */
dp_status dpi_silo_rule_read(const dpi_silo_rule *rule, size_t *n,
                             dpi_silo_statement list[DPI_SILO_STATEMENTS],
                             dp_error *err) DP_MUST_CHECK;

#endif
