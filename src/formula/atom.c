/* Variables of terms, as far as they can be judged without a schema.
 *
 * Functions of R that look at the data (scale, bs, ns) are refused with what takes their place:
 * whatever a formula computes of a record is a function of that record and of public numbers. */
#include "formula/atom.h"

#include <math.h>
#include <string.h>

static double square_root(double x)
{
    return sqrt(x);
}

static const dpi_function functions[] = {
    {"log", log, 0, false},
    {"log10", log10, 0, false},
    {"log2", log2, 0, false},
    {"log1p", log1p, -1, false},
    {"sqrt", square_root, 0, true},
    {"exp", exp, -INFINITY, true},
    {"expm1", expm1, -INFINITY, true},
    {"tanh", tanh, -INFINITY, true},
    {"atan", atan, -INFINITY, true},
};

const dpi_function *dpi_function_find(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

const char *dpi_function_instead(const char *name)
{
    static const char *const known[][2] = {
        {"scale",
         "it would read the records; columns are centred and scaled by their public ranges "
         "anyway: write the column alone"},
        {"center", "it would read the records; columns are centred by their public ranges anyway: "
                   "write the column alone"},
        {"ns", "its knots would be read off the records; write s(x, k = 10)"},
        {"bs", "its knots would be read off the records; write s(x, k = 10)"},
        {"t2", "instead of a smooth of several columns write s(x) for each"},
        {"te", "instead of a smooth of several columns write s(x) for each"},
        {"ti", "instead of a smooth of several columns write s(x) for each"},
        {"cut", "its bounds would be read off the records; make a column of levels of it"},
        {"relevel", "give the levels in the wanted order in the schema"},
        {"as.factor", "write factor(x)"},
        {"ordered", "write factor(x)"},
        {"mo", "instead of a monotonic effect write factor(x), a number for each level"},
        {"me", "write true values as latents of records in C: dp_sample_in(rows, ...)"},
        {"mi", "missing values are none that a table reads; write them as latents of records in "
               "C: dp_sample_in(rows, ...) and dp_present"},
        {"nl", "write a model that is not linear in C by tacit/model.h, whose predictors are any "
               "arithmetic"},
        {"prior", "priors stand beside the formula: {\"b\", \"normal(0, 1)\"} in .priors of its "
                  "options"},
        {"set_prior", "priors stand beside the formula: {\"b\", \"normal(0, 1)\"} in .priors of "
                      "its options"},
        {"set_rescor", "one outcome has one formula; write several that are correlated in C by "
                       "tacit/multivariate.h"},
        {"bf", "write the formula alone, and further ones behind ',': y ~ x, sigma ~ z"},
        {"brmsformula", "write the formula alone, and further ones behind ',': y ~ x, sigma ~ z"},
        {"abs", "write I(sqrt(x^2))"},
        {"offset", "an offset is added by itself: y ~ x + offset(log(n))"},
        {"s", "a smooth is added by itself: y ~ x + s(z)"},
        {"gp", "a smooth is added by itself: y ~ x + gp(z)"},
        {"mm", "it stands behind the '|' of groups' effects: (1 | mm(g, h))"},
        {"cbind", "write successes | trials(n) for counts out of n; one outcome has one formula"},
        {"mvbind", "one outcome has one formula; fit others by themselves"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i][0], name) == 0)
            return known[i][1];
    return NULL;
}

static dp_status refuse(const dpi_script *s, const dpi_tree *t, const char *message)
{
    return dpi_script_fail(s, DP_EINVAL, t->at, "%s", message);
}

static dp_status unknown(const dpi_script *s, const dpi_tree *t)
{
    const char *instead = dpi_function_instead(t->name);
    return dpi_script_fail(s, DP_EUNSUPPORTED, t->at, "'%.40s()' is not possible here; %s", t->name,
                           instead != NULL ? instead
                                           : "formulas have log, log10, log2, log1p, exp, expm1, "
                                             "sqrt, tanh, atan, I, factor, C, poly");
}

static dp_status one_argument(const dpi_script *s, const dpi_tree *t)
{
    if (dpi_tree_count(t) == 1 && t->first->label == NULL)
        return dpi_arithmetic_check(s, t->first);
    return dpi_script_fail(s, DP_EINVAL, t->at, "%s() has one argument; write %s(x)", t->name,
                           t->name);
}

dp_status dpi_arithmetic_check(const dpi_script *s, const dpi_tree *t)
{
    switch (t->kind) {
    case DPI_TREE_NUMBER:
        return DP_OK;
    case DPI_TREE_NAME:
        return strcmp(t->name, ".") == 0
                   ? refuse(s, t, "'.' would stand for all columns; write them by their names")
                   : DP_OK;
    case DPI_TREE_SIGN:
        return dpi_arithmetic_check(s, t->first);
    case DPI_TREE_CALL:
        return strcmp(t->name, "I") == 0 || dpi_function_find(t->name) != NULL ? one_argument(s, t)
                                                                               : unknown(s, t);
    case DPI_TREE_BINARY:
        break;
    }
    if (t->op == ':' || t->op == '|' || t->op == DPI_BARS)
        return refuse(s, t,
                      "within a function numbers are computed, and there is no such "
                      "operation; use + - * / ^");
    const dp_status status = dpi_arithmetic_check(s, t->first);
    return status == DP_OK ? dpi_arithmetic_check(s, t->first->next) : status;
}

const dpi_tree *dpi_argument(const dpi_tree *call, const char *label, size_t place)
{
    size_t i = 0;
    for (const dpi_tree *a = call->first; a != NULL; a = a->next) {
        if (a->label != NULL && strcmp(a->label, label) == 0)
            return a;
        if (a->label == NULL && i++ == place)
            return a;
    }
    return NULL;
}

dp_status dpi_argument_count(const dpi_script *s, const dpi_tree *call, const char *label,
                             const size_t limits[3], size_t *count)
{
    const dpi_tree *a = dpi_argument(call, label, 1);
    *count = limits[2];
    if (a == NULL)
        return DP_OK;
    if (a->kind != DPI_TREE_NUMBER || a->number != floor(a->number) ||
        !(a->number >= (double)limits[0] && a->number <= (double)limits[1]))
        return dpi_script_fail(s, DP_EINVAL, a->at,
                               "the second argument of %s() is no whole number from %zu to %zu; "
                               "write such a one",
                               call->name, limits[0], limits[1]);
    *count = (size_t)a->number;
    return DP_OK;
}

bool dpi_is_true(const dpi_tree *a)
{
    return a != NULL && a->kind == DPI_TREE_NAME && strcmp(a->name, "TRUE") == 0;
}

/* Arguments without labels come first, at most two, and each has its own label, labels[0] not. */
static bool is_placed(const dpi_tree *call, const dpi_tree *a, const char *const labels[3])
{
    size_t place = 0;
    for (const dpi_tree *b = call->first; b != a; b = b->next)
        place++;
    if (a->label == NULL || place == 0)
        return a->label == NULL && place < 2;
    bool known = false;
    for (size_t i = 1; i < 3 && labels[i] != NULL; i++)
        known = known || strcmp(a->label, labels[i]) == 0;
    for (const dpi_tree *b = call->first->next; b != a; b = b->next)
        known = known && strcmp(a->label, b->label != NULL ? b->label : labels[1]) != 0;
    return known;
}

static dp_status labels_check(const dpi_script *s, const dpi_tree *call,
                              const char *const labels[3])
{
    for (const dpi_tree *a = call->first; a != NULL; a = a->next)
        if (!is_placed(call, a, labels))
            return dpi_script_fail(s, DP_EINVAL, a->at,
                                   "%s() has no such argument, or has it twice; it has %s, %s%s%s",
                                   call->name, labels[0], labels[1], labels[2] != NULL ? ", " : "",
                                   labels[2] != NULL ? labels[2] : "");
    return DP_OK;
}

static dp_status factor_check(const dpi_script *s, const dpi_tree *t)
{
    if (dpi_tree_count(t) == 1 && t->first->label == NULL && t->first->kind == DPI_TREE_NAME)
        return dpi_arithmetic_check(s, t->first);
    return refuse(s, t, "factor() has one argument, a column: factor(x)");
}

static dp_status contrasts_check(const dpi_script *s, const dpi_tree *t)
{
    const dpi_tree *f = t->first, *kind = f != NULL ? f->next : NULL;
    static const char *const kinds[] = {"treatment", "contr.treatment", "sum", "contr.sum"};
    if (dpi_tree_count(t) != 2 || f->label != NULL || kind->label != NULL ||
        (f->kind != DPI_TREE_NAME && !dpi_tree_is_call(f, "factor")))
        return refuse(s, t, "C() has two arguments, a factor and its contrasts: C(f, sum)");
    if (f->kind == DPI_TREE_CALL) {
        const dp_status status = factor_check(s, f);
        if (status != DP_OK)
            return status;
    }
    for (size_t i = 0; kind->kind == DPI_TREE_NAME && i < 4; i++)
        if (strcmp(kind->name, kinds[i]) == 0)
            return DP_OK;
    return refuse(s, kind,
                  "contrasts are 'treatment' (each level against the first) or 'sum' "
                  "(against the mean of all)");
}

static dp_status poly_check(const dpi_script *s, const dpi_tree *t)
{
    static const char *const labels[3] = {"x", "degree", "raw"};
    static const size_t degrees[] = {1, 12, 1};
    const dpi_tree *x = dpi_argument(t, "x", 0), *raw = dpi_argument(t, "raw", 2);
    size_t degree;
    dp_status status = labels_check(s, t, labels);
    if (status != DP_OK)
        return status;
    if (x == NULL)
        return refuse(s, t, "poly() has no column; write poly(x, 2)");
    if (raw != NULL && !dpi_is_true(raw) &&
        !(raw->kind == DPI_TREE_NAME && strcmp(raw->name, "FALSE") == 0))
        return refuse(s, raw, "raw is TRUE (powers of x) or FALSE (Legendre's polynomials)");
    status = dpi_argument_count(s, t, "degree", degrees, &degree);
    return status == DP_OK ? dpi_arithmetic_check(s, x) : status;
}

dp_status dpi_atom_check(const dpi_script *s, const dpi_tree *t)
{
    if (dpi_tree_is_call(t, "factor"))
        return factor_check(s, t);
    if (dpi_tree_is_call(t, "C"))
        return contrasts_check(s, t);
    if (dpi_tree_is_call(t, "poly"))
        return poly_check(s, t);
    return dpi_arithmetic_check(s, t);
}

/* A spline has 4 functions at least: a constant, a line, and two that bend. */
static const size_t spline_sizes[] = {4, 100, 10}, process_sizes[] = {3, 100, 20};

static const size_t *sizes_of(const dpi_tree *t)
{
    return dpi_tree_is_call(t, "gp") ? process_sizes : spline_sizes;
}

size_t dpi_smooth_size(const dpi_tree *t)
{
    const dpi_tree *a = dpi_argument(t, "k", 1);
    return a != NULL ? (size_t)a->number : sizes_of(t)[2];
}

size_t dpi_smooth_columns(const dpi_tree *t)
{
    return dpi_smooth_size(t) - (dpi_tree_is_call(t, "s") ? 1 : 0);
}

dp_status dpi_smooth_check(const dpi_script *s, const dpi_tree *t)
{
    static const char *const labels[3] = {"x", "k"};
    const dpi_tree *x = dpi_argument(t, "x", 0);
    size_t k;
    dp_status status = labels_check(s, t, labels);
    if (status != DP_OK)
        return status;
    if (x == NULL)
        return dpi_script_fail(s, DP_EINVAL, t->at, "%s() has no column; write %s(x)", t->name,
                               t->name);
    status = dpi_argument_count(s, t, "k", sizes_of(t), &k);
    return status == DP_OK ? dpi_arithmetic_check(s, x) : status;
}
