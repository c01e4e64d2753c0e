/* A formula as an object: text in, text out. */
#include "formula/formula.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/name.h"
#include "data/schema.h"
#include "formula/atom.h"
#include "formula/walk.h"

/* ---- the left side ---- */

static dp_status take_addition(dp_formula *f, const dpi_script *s, const dpi_tree *t)
{
    const struct {
        const char *name;
        const dpi_tree **to;
    } known[] = {{"trials", &f->trials}, {"cens", &f->censored}, {"weights", &f->weight}};
    size_t i = 0;
    while (i < 3 && !dpi_tree_is_call(t, known[i].name))
        i++;
    if (i == 3)
        return dpi_script_fail(
            s, DP_EUNSUPPORTED, t->at,
            "behind '|' stands '%.40s'; it may be trials(n), cens(c), weights(w)", t->name);
    if (*known[i].to != NULL)
        return dpi_script_fail(s, DP_EINVAL, t->at, "%s() stands twice; write it once", t->name);
    const dpi_tree *of = t->first;
    if (of == NULL || of->next != NULL || of->label != NULL ||
        !(of->kind == DPI_TREE_NAME || (i == 0 && of->kind == DPI_TREE_NUMBER)))
        return dpi_script_fail(s, DP_EINVAL, t->at, "%s() has one argument, a column%s", t->name,
                               i == 0 ? " or a number" : "");
    *known[i].to = of;
    return DP_OK;
}

static dp_status take_left(dp_formula *f, const dpi_script *s, const dpi_statement *statement)
{
    if (statement->left == NULL)
        return dpi_script_fail(s, DP_EINVAL, statement->at,
                               "before '~' stands no outcome; write its column there: y ~ x");
    f->outcome = statement->left;
    dp_status status = dpi_arithmetic_check(s, f->outcome);
    for (const dpi_tree *t = statement->addition; t != NULL && status == DP_OK; t = t->next)
        status = take_addition(f, s, t);
    if (status != DP_OK)
        return status;
    const dpi_response_family *family = f->response.family;
    if (family->trials && f->trials == NULL)
        return dpi_script_fail(s, DP_EINVAL, statement->at,
                               "%s counts out of a number that is not told; write y | trials(n) ~ "
                               "x, or take the family bernoulli for 0 and 1",
                               family->name);
    if (!family->trials && f->trials != NULL)
        return dpi_script_fail(s, DP_EINVAL, f->trials->at,
                               "the family %s has no trials(); take binomial", family->name);
    return DP_OK;
}

/* ---- predictors ---- */

/* Of which parameter a further formula is: its place in dp_formula. */
static dp_status find_parameter(const dp_formula *f, const dpi_script *s,
                                const dpi_statement *statement, size_t *place)
{
    const dpi_response_family *family = f->response.family;
    const dpi_tree *left = statement->left;
    const size_t at = left != NULL ? left->at : statement->at;
    dpi_bytes names = {0};
    for (size_t i = 0; i < family->n_parameters; i++) {
        *place = 1 + i;
        if (left != NULL && left->kind == DPI_TREE_NAME && statement->addition == NULL &&
            strcmp(left->name, family->parameter[i].name) == 0)
            return f->predictor[*place] == NULL
                       ? DP_OK
                       : dpi_script_fail(s, DP_EINVAL, at,
                                         "a second formula of '%s'; write one with all its terms",
                                         left->name);
    }
    for (size_t i = 0; i < family->n_parameters; i++) {
        dpi_text_add(&names, i > 0 ? ", " : "");
        dpi_text_add(&names, family->parameter[i].name);
    }
    dpi_bytes_add(&names, "", 1);
    const dp_status status = dpi_script_fail(
        s, DP_ENAME, at, "a further formula is of a parameter of the family alone: of %s %s%s",
        family->name,
        family->n_parameters > 0 && !names.failed ? (const char *)names.at : "there is none",
        family->n_parameters > 0 ? " ~ terms" : "; remove it");
    dpi_bytes_free(&names);
    return status;
}

static dp_status check_outcome_unread(const dp_formula *f, const dpi_script *s,
                                      const dpi_tree *right)
{
    const dpi_tree *at =
        f->outcome->kind == DPI_TREE_NAME ? dpi_tree_find_name(right, f->outcome->name) : NULL;
    return at == NULL ? DP_OK
                      : dpi_script_fail(s, DP_EINVAL, at->at,
                                        "'%.60s' is the outcome, which cannot tell of itself; "
                                        "remove it here",
                                        at->name);
}

static dp_status take_predictor(dp_formula *f, const dpi_script *s, const dpi_statement *statement,
                                size_t place)
{
    dpi_predictor *p = dpi_arena_alloc(&f->arena, 1, sizeof *p);
    if (p == NULL)
        return dpi_fail_nomem(s->err);
    p->of = place == 0 ? "mu" : f->response.family->parameter[place - 1].name;
    f->predictor[place] = p;
    dp_status status = check_outcome_unread(f, s, statement->right);
    return status == DP_OK ? dpi_terms_expand(s, statement->right, &f->arena, p) : status;
}

static dp_status take_formulas(dp_formula *f, const dpi_script *s)
{
    dpi_statement *first;
    dp_status status = dpi_parse_formulas(s, &f->arena, &first);
    if (status == DP_OK)
        status = take_left(f, s, first);
    for (const dpi_statement *one = first; one != NULL && status == DP_OK; one = one->next) {
        size_t place = 0;
        if (one != first)
            status = find_parameter(f, s, one, &place);
        if (status == DP_OK)
            status = take_predictor(f, s, one, place);
    }
    return status;
}

/* ---- text ---- */

static void addition_text(const char *name, const dpi_tree *of, const char **between, dpi_bytes *to)
{
    if (of == NULL)
        return;
    dpi_text_add(to, *between);
    dpi_text_add(to, name);
    dpi_text_add(to, "(");
    dpi_tree_text(of, to);
    dpi_text_add(to, ")");
    *between = " + ";
}

static char *canonical(dp_formula *f)
{
    dpi_bytes to = {0};
    const char *between = " | ";
    dpi_tree_text(f->outcome, &to);
    addition_text("trials", f->trials, &between, &to);
    addition_text("cens", f->censored, &between, &to);
    addition_text("weights", f->weight, &between, &to);
    for (size_t i = 0; i < DPI_MOST_PREDICTORS; i++) {
        if (f->predictor[i] == NULL)
            continue;
        dpi_text_add(&to, i > 0 ? ", " : "");
        dpi_text_add(&to, i > 0 ? f->predictor[i]->of : "");
        dpi_text_add(&to, " ~ ");
        dpi_predictor_text(f->predictor[i], &to);
    }
    return dpi_text_take(&to, &f->arena);
}

static char *family_text(dp_formula *f)
{
    dpi_bytes to = {0};
    dpi_text_add(&to, f->response.family->name);
    dpi_text_add(&to, "(");
    dpi_text_add(&to, dpi_link_name(f->response.link));
    dpi_text_add(&to, ")");
    return dpi_text_take(&to, &f->arena);
}

/* ---- the object ---- */

/* Crossings may be short where what they stand for is not: the canonical text can be read too. */
static dp_status written_out(dp_formula *f, dp_error *err)
{
    dp_error own = {0};
    const dpi_script script = {.text = f->text, .size = strlen(f->text), .err = &own};
    dpi_statement *first;
    const dp_status status =
        script.size > DPI_MOST_TEXT ? DP_EINVAL : dpi_parse_formulas(&script, &f->arena, &first);
    if (status != DP_EINVAL)
        return status == DP_OK ? DP_OK : dpi_fail(err, status, "%s", own.text);
    return dpi_fail(err, DP_EINVAL,
                    "with its crossings written out the formula has more than %d bytes or %d names "
                    "and signs; name the terms that matter",
                    DPI_MOST_TEXT, DPI_MOST_TREES);
}

static dp_status read_text(dp_formula *f, const char *text, const dp_formula_opts *o, dp_error *err)
{
    const size_t size = strlen(text);
    if (size > DPI_MOST_TEXT)
        return dpi_fail(err, DP_EINVAL, "the formula has %zu bytes; write one of at most %d", size,
                        DPI_MOST_TEXT);
    f->script = (dpi_script){.text = dpi_arena_strdup(&f->arena, text), .size = size};
    if (f->script.text == NULL)
        return dpi_fail_nomem(err);
    dpi_script heard = f->script;
    heard.err = err;
    const char *family = o != NULL && o->family != NULL ? o->family : "gaussian";
    dp_status status = dpi_response_parse(family, &f->arena, &f->response, err);
    if (status == DP_OK)
        status = take_formulas(f, &heard);
    if (status != DP_OK)
        return status;
    f->text = canonical(f);
    f->family = family_text(f);
    return f->text != NULL && f->family != NULL ? written_out(f, err) : dpi_fail_nomem(err);
}

/* ---- under a schema ---- */

dp_status dpi_formula_need_schema(const dp_formula *f, dp_error *err)
{
    return f->laid_out ? DP_OK
                       : dpi_fail(err, DP_ESTATE,
                                  "the formula was read without a schema; give .columns and "
                                  ".n_columns to dp_formula_parse");
}

static dp_status copy_column(dpi_arena *arena, const dp_column *from, dp_column *to, dp_error *err)
{
    *to = *from;
    to->name = dpi_arena_strdup(arena, from->name);
    const char **levels = dpi_arena_alloc(arena, from->n_levels, sizeof *levels);
    bool good = to->name != NULL && levels != NULL;
    for (size_t i = 0; i < from->n_levels && good; i++) {
        levels[i] = dpi_arena_strdup(arena, from->levels[i]);
        good = levels[i] != NULL;
    }
    to->levels = from->n_levels > 0 ? levels : NULL;
    if (!good)
        return dpi_fail_nomem(err);
    const char *fault = dpi_name_fault(from->name);
    for (size_t i = 0; i < from->n_levels && fault == NULL; i++)
        fault = dpi_name_fault(from->levels[i]);
    return fault == NULL
               ? DP_OK
               : dpi_fail(err, DP_EINVAL,
                          "a name of a column or a level of the schema %s; rename it", fault);
}

static dp_status copy_schema(dp_formula *f, const dp_formula_opts *o, dp_error *err)
{
    size_t units = 0;
    dp_status status = dpi_schema_check(o->n_columns, o->columns, err);
    dp_column *columns =
        status == DP_OK ? dpi_arena_alloc(&f->arena, o->n_columns, sizeof *columns) : NULL;
    if (status == DP_OK && columns == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < o->n_columns && status == DP_OK; i++) {
        status = copy_column(&f->arena, &o->columns[i], &columns[i], err);
        units += o->columns[i].kind == DP_COLUMN_UNIT ? 1 : 0;
    }
    if (status == DP_OK && units > 1)
        return dpi_fail(err, DP_EINVAL,
                        "the schema has %zu UNIT columns; a record belongs to one unit", units);
    f->book = (dpi_code_book){.column = columns, .n = o->n_columns};
    return status;
}

static dp_status copy_priors(dp_formula *f, const dp_formula_opts *o, dp_error *err)
{
    dpi_asked_prior *prior = dpi_arena_alloc(&f->arena, o->n_priors, sizeof *prior);
    if (prior == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < o->n_priors; i++) {
        const dp_formula_prior *from = &o->priors[i];
        if (from->of == NULL || from->prior == NULL)
            return dpi_fail(err, DP_EINVAL, "prior %zu is NULL; write {\"b\", \"normal(0, 1)\"}",
                            i);
        prior[i].of = dpi_arena_strdup(&f->arena, from->of);
        const char *text = dpi_arena_strdup(&f->arena, from->prior);
        if (prior[i].of == NULL || text == NULL)
            return dpi_fail_nomem(err);
        prior[i].script = (dpi_script){.text = text, .size = strlen(text), .err = err};
        dpi_tree *call;
        const dp_status status = dpi_parse_call(&prior[i].script, &f->arena, &call);
        if (status != DP_OK)
            return status;
        prior[i].call = call;
        prior[i].script.err = NULL;
        for (size_t j = 0; j < i; j++)
            if (strcmp(prior[j].of, prior[i].of) == 0)
                return dpi_fail(err, DP_ENAME, "two priors of '%.60s'; give one", prior[i].of);
    }
    f->prior = prior;
    f->n_priors = o->n_priors;
    return DP_OK;
}

/* Outcomes that have a side: numbers of a family with a distribution function. */
static dp_status check_censored(const dp_formula *f, const dpi_script *s)
{
    dpi_span r;
    const dpi_tree *t = f->censored;
    const dpi_outcome_kind kind = f->response.family->outcome;
    if (t == NULL)
        return DP_OK;
    if (kind != DPI_OUTCOME_REAL && kind != DPI_OUTCOME_POSITIVE && kind != DPI_OUTCOME_SHARE)
        return dpi_script_fail(s, DP_EUNSUPPORTED, t->at,
                               "the family %s has no censored outcomes; remove cens()",
                               f->response.family->name);
    const dp_status status = dpi_arithmetic_range(s, &f->book, t, &r);
    const dp_column *c = dpi_code_book_find(&f->book, t->name);
    if (status == DP_OK && !(c->kind == DP_COLUMN_INTEGER && r.low >= -1 && r.high <= 1))
        return dpi_script_fail(s, DP_EDOMAIN, t->at,
                               "cens() takes an INTEGER column from -1 to 1: 0 where the outcome "
                               "was seen, 1 where it is above, -1 where it is that or below");
    return status;
}

static dp_status check_weight(dp_formula *f, const dpi_script *s)
{
    dpi_span r;
    if (f->weight == NULL)
        return DP_OK;
    const dp_status status = dpi_arithmetic_range(s, &f->book, f->weight, &r);
    f->most_weight = status == DP_OK ? r.high : 0;
    if (status == DP_OK && !(r.low >= 0 && r.high > 0))
        return dpi_script_fail(s, DP_EDOMAIN, f->weight->at,
                               "weights are from 0 up; declare the column so, its upper bound is "
                               "the greatest weight that counts");
    return status;
}

static dp_status check_trials(const dp_formula *f, const dpi_script *s)
{
    dpi_span r;
    if (f->trials == NULL)
        return DP_OK;
    const dp_status status = dpi_arithmetic_range(s, &f->book, f->trials, &r);
    if (status == DP_OK && !(r.low >= 0 && r.low == floor(r.low)))
        return dpi_script_fail(s, DP_EDOMAIN, f->trials->at,
                               "trials are a whole number from 0, or an INTEGER column of such");
    return status;
}

static dp_status check_additions(dp_formula *f, const dpi_script *s)
{
    dp_status status = check_censored(f, s);
    if (status == DP_OK)
        status = check_weight(f, s);
    return status == DP_OK ? check_trials(f, s) : status;
}

/* Lays the formula out, and writes its model once, to see that it can be. */
static dp_status lay_out(dp_formula *f, const dp_formula_opts *o, dp_error *err)
{
    dpi_script heard = f->script;
    heard.err = err;
    dp_status status = copy_schema(f, o, err);
    if (status == DP_OK)
        status = copy_priors(f, o, err);
    if (status == DP_OK)
        status = dpi_outcome_make(&heard, &f->book, &f->response, f->outcome, &f->laid_outcome);
    if (status == DP_OK)
        status = check_additions(f, &heard);
    for (size_t i = 0; i < DPI_MOST_PREDICTORS && status == DP_OK; i++)
        if (f->predictor[i] != NULL)
            status = dpi_layout_make(&heard, &f->book, f->predictor[i], &f->arena, &f->layout[i]);
    if (status != DP_OK)
        return status;
    f->laid_out = true;
    if (!dpi_formula_list_columns(f))
        return dpi_fail_nomem(err);
    dpi_formula_walk k = {.f = f, .err = err, .known = f};
    status = dpi_walk_model(&k);
    dp_model_free(k.w.model);
    return status;
}

dp_status dp_formula_parse(const char *text, const dp_formula_opts *options, dp_formula **f,
                           dp_error *err)
{
    if (text == NULL || f == NULL)
        dpi_misuse("dp_formula_parse", "text or f is NULL");
    *f = NULL;
    dp_formula *made = dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    dp_error own = {0};
    dp_status status = read_text(made, text, options, &own);
    if (status == DP_OK && options != NULL && options->columns != NULL)
        status = lay_out(made, options, &own);
    else if (status == DP_OK && options != NULL && options->n_priors > 0)
        status = dpi_fail(&own, DP_EINVAL, "priors need the schema; give .columns, too");
    if (status != DP_OK) {
        dp_formula_free(made);
        return dpi_fail(err, status, "%s", own.text);
    }
    *f = made;
    return DP_OK;
}

void dp_formula_free(dp_formula *f)
{
    if (f == NULL)
        return;
    dpi_arena_free(&f->arena);
    dpi_free(f);
}

const char *dp_formula_text(const dp_formula *f)
{
    return f->text;
}

const char *dp_formula_family(const dp_formula *f)
{
    return f->family;
}

const dp_formula_number *dp_formula_numbers(const dp_formula *f, size_t *n)
{
    *n = f->n_numbers;
    return f->number;
}
