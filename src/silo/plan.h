/* The inside of a plan.
 *
 *   tacit silo plan 1
 *   plan = contraception            scheme, model, formula, family, priors, epsilon, delta, rounds,
 *   ...                             draws, local-steps (where there are), colluders, dropouts,
 *                                   records, seed: a line each
 *   regression = logistic 1 25 2 0  of columns, in place of priors: outcomes at which owner, steps,
 *   block = 10 1.7 2.5              step, ridge; a line each: columns, norm of a row, addend; what
 *   cut = 10 100 0.9 embedding      of scheme split: numbers of a record that are told, rows of a
 *                                   step (0: all), momentum, and what is cut, where that is said
 *   ids = patients                  ids are of; with a formula, a line each: whose columns of the
 *   held = age,livch                schema; where each tells the other its own at the end
 *   told = coefficients
 *   three = logistic 1 25 2 0       of three parties: who has outcomes, steps, step, ridge
 *   most = 1 4                      magnitudes of outcomes and residuals
 *   party = 10 0 1.7                a line each: columns, rows where it has rows of one table, norm
 *   ids = patients                  where there are; held likewise, - of who helps; told
 *   owner = north tacit-owner:...   in their order; the first adds up
 *   own = 512 7 84.4 steps          times, numbers, sigma, phase: what an owner releases to itself
 *   opening = 16 52 23.66 main      likewise: what the fit opens; where owners release, without
 *                                   noise of its own
 *   schema:                         lines with "| " before them
 *   program:                        what the checks have found, and what each owner runs
 *   signed = north 5f3c...          of the hash of all lines before the first of these, in the
 *                                   order of owners
 *
 * The text has one form: it is read, written again from what was read, and compared.  It has no
 * control characters, so that a terminal shows what was signed. */
#ifndef DPI_SILO_PLAN_H
#define DPI_SILO_PLAN_H

#include <tacit/accountant.h>
#include <tacit/owners.h>
#include <tacit/silo.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "silo/columns.h"
#include "silo/split-run.h"
#include "silo/part.h"

enum { DPI_SILO_KEY = 32, DPI_SILO_SIGNATURE = 64, DPI_SILO_SIGNED = 16 + DP_SILO_HASH };

struct dp_silo_plan {
    dpi_arena arena;
    dp_silo_opts opts; /* texts in the arena; without the model */
    dp_fit_source source;
    dp_silo_columns columns; /* where opts.columns is not NULL */
    dp_silo_trio trio;       /* where opts.trio is not NULL */
    dp_silo_owner owners[DP_OWNERS_MOST];
    char names[DP_OWNERS_MOST][DPI_SILO_NAME];
    unsigned char keys[DP_OWNERS_MOST][DPI_SILO_KEY];
    unsigned char model[DP_MODEL_HASH];
    size_t n_openings;
    dp_opening openings[DP_OPENINGS];
    dpi_bytes body, text; /* without signatures, and with; a final zero each */
    unsigned char hash[DP_SILO_HASH];
    bool is_signed[DP_OWNERS_MOST];
    unsigned char signature[DP_OWNERS_MOST][DPI_SILO_SIGNATURE];
};

/* What a fit of the plan's options opens, of a model that is fitted so.  Errors of
 * dp_fit_openings. */
dp_status dpi_silo_plan_openings(const dp_silo_opts *o, const dp_model *model, size_t *n,
                                 dp_opening list[DP_OPENINGS], dp_error *err) DP_MUST_CHECK;

/* The share of what an owner's steps change that all go on with (dp_owners); 0 where no factors are
 * opened. */
double dpi_silo_damping(const dp_silo_opts *o);

/* Writes everything that is not a signature into plan->body and hashes it.  Errors of
 * dpi_silo_describe; DP_ENOMEM. */
dp_status dpi_silo_plan_write(dp_silo_plan *plan, dp_error *err) DP_MUST_CHECK;

/* Checks plan->opts and the openings, and sets names and keys.  DP_EINVAL, DP_EDOMAIN, DP_ENAME;
 * DP_EPRIVACY openings that cost more than is said, or no share of noise that is unknown. */
dp_status dpi_silo_plan_check(dp_silo_plan *plan, dp_error *err) DP_MUST_CHECK;

/* Of a plan of columns: checks them; finds what will be opened, with the noise that epsilon and
 * delta ask for; appends their lines; and what runs are told of them.  z: noise of one owner, 0 for
 * none.  DP_EINVAL, DP_EDOMAIN. */
dp_status dpi_silo_columns_check(dp_silo_plan *plan, dp_error *err) DP_MUST_CHECK;
dp_status dpi_silo_columns_openings(dp_silo_plan *plan, const dp_model *model,
                                    dp_error *err) DP_MUST_CHECK;
void dpi_silo_columns_say(const dp_silo_plan *plan, dpi_bytes *to);
void dpi_silo_columns_terms(const dp_silo_plan *plan, dpi_columns_terms *terms);

/* Of these, plans of scheme split: whether it is one, and one of a model; and the parts of the
 * calls above that are theirs. */
bool dpi_silo_plan_is_split(const dp_silo_plan *plan);
bool dpi_silo_plan_is_cut(const dp_silo_plan *plan);
dp_status dpi_silo_split_check(const dp_silo_plan *plan, dp_error *err) DP_MUST_CHECK;
dp_status dpi_silo_split_sizes(dp_silo_plan *plan, const dp_model *model,
                               dp_error *err) DP_MUST_CHECK;
void dpi_silo_split_say(const dp_silo_plan *plan, dpi_bytes *to);
void dpi_silo_split_terms(const dp_silo_plan *plan, dpi_split_terms *terms);

/* What a ledger is charged with for a plan of columns with noise: its steps, and what answers may
 * tell beside them, a mechanism that tells all with a chance far below delta.  Both together
 * dominate a run (doc/design/silo-columns.md).  Errors of dp_delta; DP_EPRIVACY. */
enum { DPI_COLUMNS_SPENDING = 2 };
dp_status dpi_silo_columns_spending(const dp_silo_plan *plan,
                                    dp_mechanism list[DPI_COLUMNS_SPENDING],
                                    dp_error *err) DP_MUST_CHECK;

/* The same of a plan of three parties; and those of them that have no records, a bit each. */
dp_status dpi_silo_three_check(dp_silo_plan *plan, dp_error *err) DP_MUST_CHECK;
dp_status dpi_silo_three_openings(dp_silo_plan *plan, dp_error *err) DP_MUST_CHECK;
void dpi_silo_three_say(const dp_silo_plan *plan, dpi_bytes *to);
uint64_t dpi_silo_three_helpers(const dp_silo_plan *plan);

/* Hashes lines that stand for a model, with formula and schema, into plan->model.  DP_ENOMEM. */
dp_status dpi_silo_plan_hash_lines(dp_silo_plan *plan,
                                   void (*say)(const dp_silo_plan *plan, dpi_bytes *to),
                                   dp_error *err) DP_MUST_CHECK;

/* Whether it is of a model, and of no regression of its own. */
DPI_INLINE bool dpi_silo_plan_of_model(const dp_silo_plan *plan)
{
    return plan->opts.columns == NULL && plan->opts.trio == NULL;
}

/* Writes plan->text of body and signatures. */
dp_status dpi_silo_plan_finish(dp_silo_plan *plan, dp_error *err) DP_MUST_CHECK;

/* What an owner signs: what it is for, and the plan's hash. */
void dpi_silo_plan_statement(const dp_silo_plan *plan, unsigned char to[DPI_SILO_SIGNED]);

/* Whether a text has 1 to `most` bytes in one line, and no control characters. */
bool dpi_silo_is_text(const char *text, size_t most);

/* Shares of noise that an attacker does not know. */
size_t dpi_silo_honest(const dp_silo_opts *o);

#endif
