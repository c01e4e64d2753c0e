/* The schemes. */
#include "silo/rules.h"

#include <string.h>

#define SECURE_SUM                                                                                 \
    "each: m = mask x0; each: send? m agg; agg: u = roster m; agg: send u each; "                  \
    "each: c = consent u; each: send? c each; each: k = unlock u c; each: send? k agg; "           \
    "agg: s = addall m u k; agg: send s each; each: o = open s"

#define PLAIN_SUM                                                                                  \
    "each: m = plain x0; each: send m agg; agg: s = addplain m; agg: send s each; each: o = open " \
    "s"

#define KEY_SUM                                                                                    \
    "once rest: b = keypart; once rest: send b rest; rest: h = sealed x0 b; rest: c = cover x0 "   \
    "h; "                                                                                          \
    "rest: send h rest; rest: send c agg; rest: g = agree h; rest: send g rest; "                  \
    "rest: d = partial h g; rest: send d agg; agg: s = combine x0 c d; agg: send s each; "         \
    "each: o = open s"

#define OF_ALL_RECORDS                                                                             \
    "what all records add up to, without noise; less one's own, what all others' do"

#define OF_ALL_OWNERS                                                                              \
    "how many records there are, and the mean of all owners' parameters and moments of "           \
    "gradients; less one's own, of all others'"

/* Noise is added by each, opened is the sum alone. */
static const dpi_silo_rule secagg_dp_rules[] = {
    {"sum", "0", "each: o = isum x0"},
    {"gauss", "+", "each: o = dgauss x0"},
    {"reveal", "+", SECURE_SUM},
};

static const dpi_silo_clause *const secagg_dp_seen = NULL;
enum { secagg_dp_n_seen = 0 };

/* Noise is in what each offers. */
static const dpi_silo_rule dp_pvi_rules[] = {
    {"offer", "(own)", "each: o = offer x0"},
    {"reveal", "+", SECURE_SUM},
};

static const dpi_silo_clause *const dp_pvi_seen = NULL;
enum { dp_pvi_n_seen = 0 };

static const dpi_silo_rule fedsgd_rules[] = {
    {"sum", "0", "each: o = isum x0"},
    {"reveal", "+", PLAIN_SUM},
};

static const dpi_silo_clause fedsgd_seen[] = {
    {"reveal", "m", "agg", "what an owner's records add up to, without noise"},
    {"reveal", "s", "each", OF_ALL_RECORDS},
};
enum { fedsgd_n_seen = sizeof fedsgd_seen / sizeof *fedsgd_seen };

static const dpi_silo_rule fedsgd_he_rules[] = {
    {"sum", "0", "each: o = isum x0"},
    {"reveal", "+", KEY_SUM},
};

static const dpi_silo_clause fedsgd_he_seen[] = {
    {"reveal", "s", "each", OF_ALL_RECORDS},
};
enum { fedsgd_he_n_seen = sizeof fedsgd_he_seen / sizeof *fedsgd_he_seen };

/* ---- parameters in place of sums ---- */

#define OWN_STEPS "each: o = walk x0 x1"

static const dpi_silo_rule fedavg_rules[] = {
    {"walk", "*", OWN_STEPS},
    {"reveal", "+", PLAIN_SUM},
};

static const dpi_silo_clause fedavg_seen[] = {
    {"reveal", "m", "agg",
     "how many records an owner has, and, times that, its parameters after steps on them alone and "
     "moments of their gradients"},
    {"reveal", "s", "each", OF_ALL_OWNERS},
};
enum { fedavg_n_seen = sizeof fedavg_seen / sizeof *fedavg_seen };

static const dpi_silo_rule fedavg_he_rules[] = {
    {"walk", "*", OWN_STEPS},
    {"reveal", "+", KEY_SUM},
};

static const dpi_silo_clause fedavg_he_seen[] = {
    {"reveal", "s", "each", OF_ALL_OWNERS},
};
enum { fedavg_he_n_seen = sizeof fedavg_he_seen / sizeof *fedavg_he_seen };

/* ---- columns: residuals stay in shares, and each gets the other's part of its block ---- */

#define OWN_PART "once each: e = encrypt x0; once each: send e each; each: o = inner x0 x1"
#define BOTH_PARTS "each: o = unveil x0 x0.c"

/* One's own share is drawn when the other's answer has come, which it follows from: columns-run. */
static const dpi_silo_rule columns_dp_rules[] = {
    {"block", "1", OWN_PART},
    {"gauss", "1", "each: c = veil x0.e x0.x1; each: send c each; each: o = dgauss x0"},
    {"reveal", "1", BOTH_PARTS},
};

static const dpi_silo_clause *const columns_dp_seen = NULL;
enum { columns_dp_n_seen = 0 };

static const dpi_silo_rule columns_rules[] = {
    {"block", "1", OWN_PART "; each: c = answer e x1; each: send c each"},
    {"reveal", "1", BOTH_PARTS},
};

static const dpi_silo_clause columns_seen[] = {
    {"block", "c", "each",
     "exact gradients, from which outcomes and columns of the other owner can be solved for"},
};
enum { columns_n_seen = sizeof columns_seen / sizeof *columns_seen };

/* ---- a model that is cut in two: who has outcomes adds up, and answers ---- */

static const dpi_silo_rule split_rules[] = {
    {"gradient", "1",
     "rest: e = embed x0 x1; rest: send e agg; agg: a = adjoint x0 x1 e; agg: send a rest; "
     "agg: o = slope x0 x1 e; rest: o = pullback x0 x1 a"},
};

static const dpi_silo_clause split_seen[] = {
    {"gradient", "e", "agg",
     "of each single record, what the other's columns of it come to at the cut: scores, or an "
     "embedding, from which columns can be guessed or solved for"},
    {"gradient", "a", "rest",
     "of each single record, its residual, or the slope of its loss at the cut, which tells its "
     "outcome"},
};
enum { split_n_seen = sizeof split_seen / sizeof *split_seen };

/* ---- shares: each has its own of all rows, and what is opened is joined of all three ---- */

#define DEALT "once own: s = deal x0; once own: send s each; once each: o = gather s"
#define JOINED(whom) "each: d = disclose x0; each: send d " whom "; " whom ": o = join d"

static const dpi_silo_rule trio_dp_rules[] = {
    {"share", "1", DEALT},
    {"share", "0", DEALT},
    {"residual", "*", "each: o = residual x0 x1"},
    {"block", "~", "each: o = tally x0 x1"},
    {"gauss", "~", "each: k = shroud; each: send k each; each: o = blend x0 k"},
    {"reveal", "~", JOINED("each")},
};

static const dpi_silo_clause *const trio_dp_seen = NULL;
enum { trio_dp_n_seen = 0 };

static const dpi_silo_rule trio_rules[] = {
    {"share", "1", DEALT},
    {"share", "0", DEALT},
    {"descend", "~", "each: o = descend x0"},
    {"return", "~", JOINED("own")},
    {"reveal", "~", JOINED("each")},
};

static const dpi_silo_clause trio_seen[] = {
    {"return", "d", "own", "its exact coefficients of the whole regression, and what follows"},
    {"reveal", "d", "each", "all exact coefficients of the whole regression, and what follows"},
};
enum { trio_n_seen = sizeof trio_seen / sizeof *trio_seen };

static const dpi_silo_scheme schemes[] = {
#define ENTRY(c, name, noisy, columns, averages, shared, single, about)                            \
    {name,       about,     noisy,   columns,                                                      \
     averages,   shared,    single,  sizeof c##_rules / sizeof *c##_rules,                         \
     c##_n_seen, c##_rules, c##_seen},
#define OF_ROWS(c, name, noisy, averages, about)                                                   \
    ENTRY(c, name, noisy, false, averages, false, false, about)
#define OF_COLUMNS(c, name, noisy, single, about)                                                  \
    ENTRY(c, name, noisy, true, false, false, single, about)
#define OF_SHARES(c, name, noisy, about) ENTRY(c, name, noisy, false, false, true, false, about)
    DPI_SILO_SCHEME_LIST(OF_ROWS) DPI_SILO_COLUMN_SCHEME_LIST(OF_COLUMNS)
        DPI_SILO_TRIO_SCHEME_LIST(OF_SHARES)
#undef OF_SHARES
#undef OF_COLUMNS
#undef OF_ROWS
#undef ENTRY
};

enum { N_SCHEMES = sizeof schemes / sizeof *schemes };

bool dpi_silo_scheme_says(const dpi_silo_scheme *scheme, const char *word)
{
    bool found = false;
    for (size_t k = 0; k < scheme->n_rules; k++)
        found = found || strstr(scheme->rules[k].steps, word) != NULL;
    return found;
}

const dpi_silo_scheme *dpi_silo_scheme_named(const char *name)
{
    for (int k = 0; k < N_SCHEMES; k++)
        if (strcmp(schemes[k].name, name) == 0)
            return &schemes[k];
    return NULL;
}
