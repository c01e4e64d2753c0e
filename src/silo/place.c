/* Shapes and places of results.
 *
 *   inquire, advance   one place, and * beside it     that place
 *   sum                0 -> +, marked                 * and P stay
 *   walk               *, 0 -> +, marked
 *   refine             (own), 0 -> (own)
 *   offer              (own) -> +, marked
 *   gauss              +, 1, marked
 *   reveal             + -> *, 1, marked
 *   addend             1, 1 -> +
 *   block              1, + -> 1, marked             ~, ~ -> ~, marked
 *   gradient           1, 1 -> 1, marked
 *   share              0, 1 -> ~, marked
 *   residual           *, ~ -> ~, marked
 *   descend            ~, marked                     gauss ~ likewise
 *   return             ~ -> (own), marked            reveal ~ -> *, marked
 *
 * What an owner computes of a sum that is not opened yet is no sum of what each would compute of
 * its own: that, and values of different owners in one operation, are the errors that this is
 * for. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "silo/program.h"

enum {
    SHAPE_FIRST,
    SHAPE_RECORDS,
    SHAPE_SUM,
    SHAPE_WALK,
    SHAPE_INTEGERS,
    SHAPE_ROWS,
    SHAPE_COLUMNS
};
enum {
    PLACE_LOCAL,
    PLACE_SUM,
    PLACE_WALK,
    PLACE_REFINE,
    PLACE_OFFER,
    PLACE_GAUSS,
    PLACE_REVEAL,
    PLACE_ADDEND,
    PLACE_BLOCK,
    PLACE_GRADIENT,
    PLACE_SHARE,
    PLACE_RESIDUAL,
    PLACE_DESCEND,
    PLACE_RETURN
};

const dpi_silo_op_row dpi_silo_ops[DPI_SILO_N_OPS] = {
#define ROW(name, text, args, shape, place)                                                        \
    [DPI_SILO_OP_##name] = {text, args, SHAPE_##shape, PLACE_##place},
    DPI_SILO_OP_LIST(ROW)
#undef ROW
};

typedef struct inference {
    dpi_silo_program *p;
    dpi_silo_variable *v;
    const dpi_silo_type *arg[DPI_SILO_ARGS];
    size_t n;
} inference;

/* "S = sum v, of places 0: what is wrong". */
static bool fail(const inference *f, const char *what)
{
    char call[4 * DPI_SILO_NAME], places[5 * DPI_SILO_NAME] = "";
    size_t at = (size_t)snprintf(call, sizeof call, "%s = %s", f->v->name,
                                 dpi_silo_ops[f->v->op].name),
           to = 0;
    for (size_t k = 0; k < f->n; k++) {
        at += (size_t)snprintf(call + at, sizeof call - at, " %s",
                               f->p->variables[f->v->arg[k]].name);
        to += (size_t)snprintf(places + to, sizeof places - to, "%s%s", k > 0 ? ", " : "",
                               dpi_silo_place_text(&f->p->who, f->arg[k]->place));
    }
    (void)dpi_fail(&f->p->error, DP_ESHAPE, "%s, of places %s: %s", call, places, what);
    return false;
}

/* Of rows and columns: a number a row, or one a column. */
static bool infer_product(const inference *f)
{
    const bool of_rows = dpi_silo_ops[f->v->op].shape == SHAPE_ROWS;
    const dpi_silo_type *table = f->arg[of_rows ? 1 : 0];
    if (table->n_dims != 2)
        return fail(f, "this is of rows and columns, and there are none");
    f->v->type =
        (dpi_silo_type){.dtype = DPI_SILO_I64, .n_dims = 1, .dims = {table->dims[of_rows ? 0 : 1]}};
    return true;
}

static bool infer_shape(const inference *f)
{
    dpi_silo_type *t = &f->v->type;
    *t = *f->arg[0];
    switch (dpi_silo_ops[f->v->op].shape) {
    case SHAPE_RECORDS:
        if (f->arg[1]->n_dims < 1)
            return fail(f, "this is asked of records, and there are none");
        *t = (dpi_silo_type){
            .dtype = DPI_SILO_I64, .n_dims = 2, .dims = {f->arg[1]->dims[0], DPI_SILO_OPENED}};
        return true;
    case SHAPE_SUM:
        if (t->n_dims < 1)
            return fail(f, "there is nothing to sum over");
        t->dims[0] = t->dims[1];
        t->n_dims--;
        return true;
    case SHAPE_WALK:
        *t = (dpi_silo_type){.dtype = DPI_SILO_I64, .n_dims = 1, .dims = {DPI_SILO_OPENED}};
        return true;
    case SHAPE_INTEGERS:
        t->dtype = DPI_SILO_I64;
        return true;
    case SHAPE_ROWS:
    case SHAPE_COLUMNS:
        return infer_product(f);
    default:
        return true;
    }
}

/* ---- places ---- */

static bool same_place(dpi_silo_place a, dpi_silo_place b)
{
    return a.where == b.where && a.party == b.party;
}

/* One place, and * beside it. */
static bool place_local(const inference *f)
{
    dpi_silo_place *out = &f->v->type.place;
    *out = (dpi_silo_place){DPI_SILO_SAME, 0};
    for (size_t k = 0; k < f->n; k++) {
        dpi_silo_place a = f->arg[k]->place;
        if (a.where == DPI_SILO_SUMMED)
            return fail(f, "this is no sum of what each owner would get from its own part; reveal "
                           "the sum first");
        if (a.where == DPI_SILO_SHARED)
            return fail(f, "this is on shares (~), of which no party has what they are of; open it "
                           "first");
        if (a.where == DPI_SILO_SAME)
            continue;
        if (out->where != DPI_SILO_SAME && !same_place(*out, a))
            return fail(f, "these are at different owners; bring them to one place first");
        *out = a;
    }
    return true;
}

/* Marked where several parties are needed. */
static bool place_as(const inference *f, dpi_silo_where where, bool marked)
{
    f->v->type.place = (dpi_silo_place){where, where == DPI_SILO_AT ? f->arg[0]->place.party : 0};
    f->v->marked = marked;
    return true;
}

static bool place_sum(const inference *f)
{
    dpi_silo_where a = f->arg[0]->place.where;
    if (a == DPI_SILO_BY_ROWS)
        return place_as(f, DPI_SILO_SUMMED, true);
    return a == DPI_SILO_SAME || a == DPI_SILO_AT
               ? place_as(f, a, false)
               : fail(f, "a sum is over records that are split (0), or all at one place");
}

static bool place_walk(const inference *f)
{
    return f->arg[0]->place.where == DPI_SILO_SAME && f->arg[1]->place.where == DPI_SILO_BY_ROWS
               ? place_as(f, DPI_SILO_SUMMED, true)
               : fail(f, "owners take steps from what all have (*) on records that are split (0)");
}

static bool place_refine(const inference *f)
{
    return f->arg[0]->place.where == DPI_SILO_OWN && f->arg[1]->place.where == DPI_SILO_BY_ROWS
               ? place_as(f, DPI_SILO_OWN, false)
               : fail(f, "an owner takes steps from what is its own ((own)) on records that are "
                         "split (0)");
}

static bool place_offer(const inference *f)
{
    return f->arg[0]->place.where == DPI_SILO_OWN
               ? place_as(f, DPI_SILO_SUMMED, true)
               : fail(f, "what owners offer is each one's own ((own))");
}

/* Of a sum over owners, of what each has of its own columns, or on shares. */
static bool place_summed(const inference *f, dpi_silo_where to, const char *what)
{
    const dpi_silo_where a = f->arg[0]->place.where;
    const bool opens = to == DPI_SILO_SAME;
    return a == DPI_SILO_BY_COLUMNS ? place_as(f, a, true)
           : a == DPI_SILO_SHARED   ? place_as(f, opens ? to : a, true)
           : a == DPI_SILO_SUMMED   ? place_as(f, to, true)
                                    : fail(f, what);
}

static bool place_addend(const inference *f)
{
    return f->arg[0]->place.where == DPI_SILO_BY_COLUMNS &&
                   f->arg[1]->place.where == DPI_SILO_BY_COLUMNS
               ? place_as(f, DPI_SILO_SUMMED, false)
               : fail(f, "a residual is made of coefficients and columns that are split (1)");
}

static bool place_block(const inference *f)
{
    if (f->arg[0]->place.where == DPI_SILO_SHARED && f->arg[1]->place.where == DPI_SILO_SHARED)
        return place_as(f, DPI_SILO_SHARED, true);
    return f->arg[0]->place.where == DPI_SILO_BY_COLUMNS &&
                   f->arg[1]->place.where == DPI_SILO_SUMMED
               ? place_as(f, DPI_SILO_BY_COLUMNS, true)
               : fail(f, "a gradient is made of columns that are split (1) and the sum (+) of what "
                         "all owners have of residuals");
}

static bool place_gradient(const inference *f)
{
    return f->arg[0]->place.where == DPI_SILO_BY_COLUMNS &&
                   f->arg[1]->place.where == DPI_SILO_BY_COLUMNS
               ? place_as(f, DPI_SILO_BY_COLUMNS, true)
               : fail(f,
                      "a model that is cut in two has parameters and columns that are split (1)");
}

static bool place_share(const inference *f)
{
    const dpi_silo_where a = f->arg[0]->place.where;
    return a == DPI_SILO_BY_ROWS || a == DPI_SILO_BY_COLUMNS
               ? place_as(f, DPI_SILO_SHARED, true)
               : fail(f, "shares are made of rows (0) or columns (1) of owners");
}

static bool place_residual(const inference *f)
{
    return f->arg[0]->place.where == DPI_SILO_SAME && f->arg[1]->place.where == DPI_SILO_SHARED
               ? place_as(f, DPI_SILO_SHARED, true)
               : fail(f, "residuals are of coefficients that all have (*) and columns in shares "
                         "(~)");
}

static bool place_shared(const inference *f, dpi_silo_where to)
{
    return f->arg[0]->place.where == DPI_SILO_SHARED ? place_as(f, to, true)
                                                     : fail(f, "this is done on shares (~)");
}

static bool infer_place(const inference *f)
{
    switch (dpi_silo_ops[f->v->op].place) {
    case PLACE_SUM:
        return place_sum(f);
    case PLACE_WALK:
        return place_walk(f);
    case PLACE_REFINE:
        return place_refine(f);
    case PLACE_OFFER:
        return place_offer(f);
    case PLACE_GAUSS:
        return place_summed(f, DPI_SILO_SUMMED,
                            "noise is added to a sum (+); sum over records first");
    case PLACE_REVEAL:
        return place_summed(f, DPI_SILO_SAME, "a sum (+) is opened, and nothing else");
    case PLACE_ADDEND:
        return place_addend(f);
    case PLACE_BLOCK:
        return place_block(f);
    case PLACE_GRADIENT:
        return place_gradient(f);
    case PLACE_SHARE:
        return place_share(f);
    case PLACE_RESIDUAL:
        return place_residual(f);
    case PLACE_DESCEND:
        return place_shared(f, DPI_SILO_SHARED);
    case PLACE_RETURN:
        return place_shared(f, DPI_SILO_OWN);
    default:
        return place_local(f);
    }
}

bool dpi_silo_infer(dpi_silo_program *p, dpi_silo_variable *v)
{
    inference f = {.p = p, .v = v, .n = dpi_silo_ops[v->op].args};
    for (size_t k = 0; k < f.n; k++)
        f.arg[k] = &p->variables[v->arg[k]].type;
    return infer_shape(&f) && infer_place(&f);
}
