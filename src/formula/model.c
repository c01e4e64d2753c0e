/* A formula's model: predictors, parameters of the family, the outcome. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "formula/walk.h"

static const char *level_name(dpi_formula_walk *k, const dp_column *column, size_t level)
{
    dpi_bytes to = {0};
    dpi_level_text(column, level, &to);
    const char *text = dpi_text_take(&to, &k->w.arena);
    k->w.failed = k->w.failed || text == NULL;
    return text != NULL ? text : "";
}

/* Logits of the categories: 0 for the first, a predictor for each other one. */
static dpi_value logits(dpi_formula_walk *k)
{
    const dp_formula *f = k->f;
    dpi_value all = dpi_write_number(&k->w, 0);
    for (size_t c = 1; c < f->laid_outcome.categories; c++) {
        const char *of = dpi_walk_joined(k, "mu", level_name(k, f->laid_outcome.column, c), "");
        const dpi_predictor_names names = {.suffix = dpi_walk_joined(k, "_", of, ""),
                                           .infix = dpi_walk_joined(k, of, "_", ""),
                                           .unit = 1,
                                           .spread = 2.5,
                                           .reach = 5,
                                           .intercept = true};
        const dpi_value one = dpi_walk_predictor(k, f->predictor[0], &f->layout[0], &names);
        all = dpi_write_let(&k->w, "logits", DPI_WRITE2(&k->w, dp_concat, all, one));
    }
    return all;
}

/* Thresholds between ordered levels, in increasing order: Intercept where every column is in the
 * middle of its range, b_Intercept[1] ... where each is 0. */
static dpi_value thresholds(dpi_formula_walk *k)
{
    const size_t n = k->f->laid_outcome.categories - 1;
    const dpi_parameter p = {.name = "Intercept",
                             .classes = {"b_Intercept", NULL},
                             .prior = dpi_prior_make("normal", 0, 5, 0),
                             .unit = 1};
    dpi_prior prior;
    (void)dpi_walk_prior(k, &p, &prior);
    const dpi_written_law each = dpi_write_prior(&k->w, &prior);
    const dpi_written_law law = {dp_ordered(each.d),
                                 dpi_write_text(&k->w, "dp_ordered(%s)", each.c)};
    const dpi_value all = dpi_write_sample(&k->w, NULL, "Intercept", n, law);
    for (size_t i = 0; i < n; i++) {
        char name[40];
        const dpi_value one = dpi_write_slice(&k->w, all, i, 1);
        (void)snprintf(name, sizeof name, "b_Intercept[%zu]", i + 1);
        dpi_write_deterministic(&k->w, name,
                                k->has_centre ? DPI_WRITE2(&k->w, dp_add, one, k->centre) : one);
    }
    return all;
}

static dpi_value mean(dpi_formula_walk *k)
{
    const dpi_outcome_layout *o = &k->f->laid_outcome;
    const dpi_layout *l = &k->f->layout[0];
    const dpi_outcome_kind outcome = k->f->response.family->outcome;
    const dpi_predictor_names names = {.suffix = "",
                                       .infix = "",
                                       .centre = o->placed ? o->centre - l->offset : 0,
                                       .unit = o->unit,
                                       .spread = 2.5,
                                       .reach = o->placed ? 2.5 : 5,
                                       .intercept = outcome != DPI_OUTCOME_ORDERED};
    return dpi_walk_predictor(k, k->f->predictor[0], l, &names);
}

/* Parameter i of the family, on its own scale, a chance as its logit: of each record where it has a
 * formula. */
static dpi_value parameter(dpi_formula_walk *k, size_t i)
{
    const dp_formula *f = k->f;
    const dpi_family_parameter *p = &f->response.family->parameter[i];
    const double unit = p->sized ? f->laid_outcome.size : 1;
    if (f->predictor[1 + i] != NULL) {
        const dpi_predictor_names names = {.suffix = dpi_walk_joined(k, "_", p->name, ""),
                                           .infix = dpi_walk_joined(k, p->name, "_", ""),
                                           .centre = p->link == DPI_LOG ? log(unit) : 0,
                                           .unit = 1,
                                           .spread = 1,
                                           .reach = p->sized ? 1 : 2.5,
                                           .intercept = true};
        const dpi_value linked =
            dpi_walk_predictor(k, f->predictor[1 + i], &f->layout[1 + i], &names);
        return dpi_write_let(&k->w, p->name,
                             p->link == DPI_LOGIT ? linked
                                                  : dpi_link_inverse(&k->w, p->link, linked));
    }
    const dpi_parameter number = {
        .name = p->name,
        .kind = p->link == DPI_LOG ? DPI_PARAMETER_POSITIVE : DPI_PARAMETER_SHARE,
        .prior = dpi_prior_make(p->prior, p->argument[0], p->argument[1], 0),
        .unit = unit};
    const dpi_value own = dpi_walk_parameter(k, &number);
    return p->link == DPI_LOGIT
               ? DPI_WRITE2(&k->w, dp_sub, DPI_WRITE1(&k->w, dp_log, own),
                            DPI_WRITE1(&k->w, dp_log1p, DPI_WRITE1(&k->w, dp_neg, own)))
               : dpi_write_scaled(&k->w, unit, own);
}

static dpi_value trials(dpi_formula_walk *k)
{
    const dpi_tree *t = k->f->trials;
    if (t == NULL)
        return (dpi_value){0};
    return t->kind == DPI_TREE_NUMBER ? dpi_write_number(&k->w, t->number)
                                      : dpi_write_data(&k->w, t->name, 1);
}

static void write_all(dpi_formula_walk *k)
{
    const dpi_response *response = &k->f->response;
    dpi_law_parts parts = {.link = response->link};
    parts.mean = response->family->outcome == DPI_OUTCOME_CATEGORY ? logits(k) : mean(k);
    for (size_t i = 0; i < response->family->n_parameters; i++)
        parts.parameter[i] = parameter(k, i);
    if (response->family->outcome == DPI_OUTCOME_ORDERED)
        parts.thresholds = thresholds(k);
    parts.trials = trials(k);
    const char *outcome = dpi_tree_string(k->f->outcome, &k->w.arena);
    k->w.failed = k->w.failed || outcome == NULL;
    dpi_written_law law = response->family->law(&k->w, &parts);
    if (k->f->censored != NULL)
        law = dpi_write_censored(&k->w, law, dpi_write_data(&k->w, k->f->censored->name, 1));
    if (k->f->weight != NULL)
        law = dpi_write_weighted(&k->w, law, dpi_write_data(&k->w, k->f->weight->name, 1),
                                 k->f->most_weight);
    dpi_write_observe(&k->w, outcome != NULL ? outcome : "", law);
}

/* A prior that is of nothing would be taken for one that is heard.  Of many names the first are
 * told. */
static dp_status check_used(const dpi_formula_walk *k)
{
    enum { TOLD = 240 };
    const char *names = k->names.n > 0 ? (const char *)k->names.at : "";
    size_t n = k->names.n;
    while (n > TOLD || (n > 0 && n < k->names.n && names[n] != ','))
        n--;
    for (size_t i = 0; i < k->f->n_priors; i++)
        if (!k->used[i] && k->names.n == 0)
            return dpi_fail(k->err, DP_ENAME,
                            "a prior of '%.60s': the formula has no parameter; leave it out",
                            k->f->prior[i].of);
        else if (!k->used[i])
            return dpi_fail(k->err, DP_ENAME,
                            "a prior of '%.60s': the formula has no such parameter; give one of "
                            "%.*s%s, or a class of them, as b or sd",
                            k->f->prior[i].of, (int)n, names, n < k->names.n ? ", ..." : "");
    return DP_OK;
}

dp_status dpi_walk_model(dpi_formula_walk *k)
{
    dp_error own = {0};
    dp_error *callers = k->err;
    k->err = &own;
    k->w.model = dp_model_new();
    k->used = dpi_alloc(k->f->n_priors, sizeof *k->used);
    if (k->w.model == NULL || k->used == NULL) {
        dpi_free(k->used);
        dpi_arena_free(&k->w.arena);
        return dpi_fail_nomem(callers);
    }
    k->w.rows = dp_unit_plate(k->w.model, "rows");
    write_all(k);
    k->w.failed = k->w.failed || k->names.failed;
    /* Where memory was out, names may be missing, and what follows from that is no error of the
     * formula's. */
    dp_status status = k->w.failed ? DP_ENOMEM : own.status;
    if (k->w.failed) {
        own = (dp_error){0};
        (void)dpi_fail_nomem(&own);
    }
    if (status == DP_OK)
        status = check_used(k);
    if (status == DP_OK && dp_model_status(k->w.model) != DP_OK)
        status = dpi_fail(&own, dp_model_status(k->w.model), "%s", dp_model_error(k->w.model));
    dpi_free(k->used);
    dpi_bytes_free(&k->names);
    dpi_arena_free(&k->w.arena);
    return status == DP_OK ? DP_OK : dpi_fail(callers, status, "%s", own.text);
}

dp_status dp_formula_model(const dp_formula *f, dp_model **model, dp_error *err)
{
    if (f == NULL || model == NULL)
        dpi_misuse("dp_formula_model", "f or model is NULL");
    *model = NULL;
    dp_status status = dpi_formula_need_schema(f, err);
    if (status != DP_OK)
        return status;
    dpi_formula_walk k = {.f = f, .err = err};
    status = dpi_walk_model(&k);
    if (status == DP_OK)
        *model = k.w.model;
    else
        dp_model_free(k.w.model);
    return status;
}
