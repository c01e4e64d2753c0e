/* Programs of fits: what is asked for, what is fixed, and what the input is. */
#include "program/lower.h"

#include <math.h>
#include <string.h>

#include "fit/walk.h"

void dpi_lower_refuse(dpi_lowering *l, dpi_id id, const char *why)
{
    char text[128];
    const dpi_where *where = &dpi_get(l->g, id)->where;
    (void)dpi_fail(l->err, DP_EUNSUPPORTED, "%s:%d: '%s' cannot be served: %s",
                   where->file != NULL ? where->file : "the model", where->line,
                   dpi_node_text(l->g, id, text, sizeof text), why);
}

/* ---- what is asked for ---- */

/* Families whose mean follows from one argument, and how. */
typedef struct answered {
    const char *family, *argument;
    dp_link link;
} answered;

static const answered answers[] = {
    {"bernoulli_logit", "logit", DP_LINK_LOGISTIC},
    {"binomial_logit", "logit", DP_LINK_LOGISTIC},
    {"chance_logit", "logit", DP_LINK_LOGISTIC},
    {"categorical_logit", "logits", DP_LINK_SOFTMAX},
    {"poisson_log", "log_rate", DP_LINK_EXP},
    {"negative_binomial_log", "log_mean", DP_LINK_EXP},
    {"normal", "loc", DP_LINK_IDENTITY},
    {"student_t", "loc", DP_LINK_IDENTITY},
    {"laplace", "loc", DP_LINK_IDENTITY},
    {"logistic", "loc", DP_LINK_IDENTITY},
};

/* The node of the argument by which an observed site is answered; DPI_NONE and the error. */
static dpi_id find_argument(const dpi_site *site, dp_link *link, dp_error *err)
{
    const dpi_family *family = site->family;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        for (int k = 0; strcmp(answers[i].family, family->name) == 0 && k < family->n_args; k++)
            if (strcmp(family->arg_name[k], answers[i].argument) == 0) {
                *link = answers[i].link;
                return site->arg[k];
            }
    (void)dpi_fail(err, DP_EUNSUPPORTED,
                   "'%s' has the distribution %s, whose mean does not follow from one argument; "
                   "give what is to be answered a name (dp_deterministic) and ask for that",
                   site->name, family->name);
    return DPI_NONE;
}

static dpi_id find_target(const dp_fit *fit, const char *name, dp_link *link, dp_error *err)
{
    *link = DP_LINK_IDENTITY;
    for (size_t i = 0; i < fit->n_sites[0]; i++) {
        const dpi_site *site = &fit->model->sites[i];
        if (strcmp(site->name, name) != 0)
            continue;
        if (site->kind == DPI_OBSERVED)
            return find_argument(site, link, err);
        if (site->kind == DPI_DETERMINISTIC &&
            fit->model->graph.nodes[site->value].shape.per_record)
            return site->value;
    }
    (void)dpi_fail(err, DP_ENAME,
                   "the fitted model observes no column '%s' and computes no value of records of "
                   "that name",
                   name);
    return DPI_NONE;
}

/* ---- what the record's columns reach ---- */

static bool add_column(dpi_lowering *l, dpi_id id, bool groups)
{
    const dpi_node *node = dpi_get(l->g, id);
    if (l->n_columns == DPI_LOWER_COLUMNS) {
        dpi_lower_refuse(l, id, "it is one column too many; join columns into blocks");
        return false;
    }
    l->column[l->n_columns++] =
        (dpi_lower_column){.node = id,
                           .name = node->name,
                           .size = groups ? node->attr.number : dpi_shape_size(&node->shape),
                           .groups = groups};
    return true;
}

static bool reach(dpi_lowering *l, const bool *needed, dpi_id target)
{
    bool good = true;
    for (dpi_id i = 0; good && i <= target; i++) {
        const dpi_node *node = dpi_get(l->g, i);
        if (!needed[i])
            continue;
        bool column = dpi_is_column(node), groups = dpi_is_groups(node);
        l->reached[i] = column || groups;
        for (int k = 0; k < node->op->n_inputs; k++)
            l->reached[i] = l->reached[i] || l->reached[node->in[k]];
        if (column || groups)
            good = add_column(l, i, groups);
        if (dpi_is_input(node) && node->shape.per_record) {
            dpi_lower_refuse(l, i,
                             "it is a latent of records, which has no posterior for a new one");
            good = false;
        }
    }
    return good;
}

/* ---- what is fixed ---- */

/* One draw that is the mean of all. */
static dp_status mean_draw(const dp_fit *fit, dp_draws **draws, dp_error *err)
{
    dp_status status = dpi_draws_new(fit, 1, draws, err);
    for (size_t k = 0; status == DP_OK && k < (*draws)->n_drawn; k++) {
        const dpi_drawn *drawn = &(*draws)->drawn[k];
        dp_summary *summary = dpi_alloc(drawn->size, sizeof *summary);
        status = summary == NULL ? dpi_fail_nomem(err)
                                 : dp_fit_summary(fit, drawn->latent, drawn->size, summary, err);
        for (size_t i = 0; status == DP_OK && i < drawn->size; i++)
            (*draws)->values[drawn->first + i] = summary[i].mean;
        dpi_free(summary);
    }
    return status;
}

static dp_status take_draws(const dp_fit *fit, const dp_lower_opts *opts, dp_draws **draws,
                            dp_error *err)
{
    dp_rng *rng;
    if (opts->draws == 0)
        return mean_draw(fit, draws, err);
    dp_status status = dp_rng_new(opts->seed, &rng, err);
    if (status == DP_OK)
        status = dp_fit_draw(fit, opts->draws, rng, draws, err);
    dp_rng_free(rng);
    return status;
}

/* Global values that meet what belongs to records: their numbers in each draw. */
static dp_status find_globals(dpi_lowering *l, const dp_fit *fit, const bool *needed, dpi_id target,
                              const dp_draws *draws)
{
    const dp_given given = {.draws = draws};
    dpi_id *wanted = dpi_arena_alloc(&l->arena, (size_t)target + 1, sizeof *wanted);
    size_t n = 0;
    if (wanted == NULL)
        return dpi_fail_nomem(l->err);
    for (dpi_id i = 0; i <= target; i++) {
        const dpi_node *node = dpi_get(l->g, i);
        for (int k = 0; needed[i] && node->shape.per_record && k < node->op->n_inputs; k++) {
            dpi_id in = node->in[k];
            size_t numbers = dpi_shape_size(&dpi_get(l->g, in)->shape);
            if (dpi_get(l->g, in)->shape.per_record || l->global[in] != NULL)
                continue;
            l->global[in] = dpi_arena_alloc(&l->arena, numbers * l->draws, sizeof **l->global);
            if (l->global[in] == NULL)
                return dpi_fail_nomem(l->err);
            wanted[n++] = in;
        }
    }
    dpi_walk w;
    dp_status status = dpi_walk_init(&w, fit, &given, false, wanted, n, l->err);
    for (size_t d = 0; status == DP_OK && d < l->draws; d++) {
        dpi_walk_draw(&w, d);
        for (size_t i = 0; i < n; i++) {
            size_t numbers = dpi_shape_size(&dpi_get(l->g, wanted[i])->shape);
            dpi_run_read(w.model.run, wanted[i], 0, numbers, l->global[wanted[i]] + d * numbers);
        }
    }
    dpi_walk_free(&w);
    return status;
}

/* ---- the input ---- */

static bool add_feature(dpi_lowering *l, dpi_term term)
{
    size_t size = 1, i = 0;
    while (i < l->n_features && l->feature[i].term != term)
        i++;
    if (i < l->n_features || term == 0 || (term & DPI_TERM_CUT) != 0)
        return true;
    bool fits = l->n_features < DPI_LOWER_TERMS;
    for (size_t c = 0; c < l->n_columns; c++)
        if ((term >> c & 1) != 0)
            fits = dpi_mul(size, l->column[c].size, &size) && fits;
    if (fits && size <= DPI_PROGRAM_SIZE)
        l->feature[l->n_features++] = (dpi_feature){.term = term, .size = size};
    else
        (void)dpi_fail(l->err, DP_EUNSUPPORTED,
                       "the model multiplies columns with one another in more than 2^24 ways");
    return l->err->status == DP_OK;
}

/* Terms of what is between a node and the cuts below it, and then of these. */
static bool discover(dpi_lowering *l, dpi_id id, bool *seen)
{
    bool good = true;
    if (seen[id] || !l->reached[id])
        return true;
    seen[id] = true;
    if (dpi_lower_is_cut(l, id))
        return discover(l, dpi_lower_operand(l, id), seen);
    const dpi_crossings *terms = dpi_lower_terms(l, id);
    for (size_t i = 0; terms != NULL && good && i < terms->n; i++)
        good = add_feature(l, terms->term[i]);
    bool *below = dpi_alloc((size_t)id + 1, sizeof *below);
    if (below == NULL)
        return dpi_fail_nomem(l->err) == DP_OK;
    below[id] = true;
    for (dpi_id i = id; terms != NULL && good && i >= 0; i--) {
        const dpi_node *node = dpi_get(l->g, i);
        if (below[i] && l->reached[i] && dpi_lower_is_cut(l, i))
            good = discover(l, i, seen);
        else if (below[i])
            for (int k = 0; k < node->op->n_inputs; k++)
                below[node->in[k]] = true;
    }
    dpi_free(below);
    return good && terms != NULL;
}

static int columns_in(dpi_term term)
{
    int n = 0;
    for (; term != 0; term &= term - 1)
        n++;
    return n;
}

/* Parts before wholes, then the order of the columns. */
static void order_features(dpi_lowering *l)
{
    for (size_t i = 1; i < l->n_features; i++)
        for (size_t k = i; k > 0; k--) {
            dpi_feature *a = &l->feature[k - 1], *b = &l->feature[k], c = *a;
            int more = columns_in(a->term) - columns_in(b->term);
            if (more < 0 || (more == 0 && a->term < b->term))
                break;
            *a = *b;
            *b = c;
        }
    for (size_t i = 0; i < l->n_features; i++) {
        l->feature[i].first = l->n_inputs;
        l->n_inputs += l->feature[i].size;
    }
}

/* Bounds of a real number; false and the error where there are none. */
static bool find_bounds(dpi_lowering *l, const dp_lower_opts *opts, const char *column,
                        size_t element, double bounds[2])
{
    bounds[0] = opts->low;
    bounds[1] = opts->high;
    for (size_t i = 0; i < opts->n_bounds; i++)
        if (strcmp(opts->bounds[i].column, column) == 0 && opts->bounds[i].element == element) {
            bounds[0] = opts->bounds[i].low;
            bounds[1] = opts->bounds[i].high;
        }
    if (bounds[0] < bounds[1])
        return true;
    (void)dpi_fail(l->err, DP_EINVAL,
                   "number %zu of column '%s' has no bounds; say between which public numbers it "
                   "lies, low < high, so that no sum can overflow",
                   element, column);
    return false;
}

static void widen(const double by[2], dp_program_number *number)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < 4; i++) {
        double end = (i < 2 ? number->low : number->high) * by[i % 2];
        low = fmin(low, end);
        high = fmax(high, end);
    }
    number->low = low;
    number->high = high;
}

/* What number k of a feature is. */
static bool describe_number(dpi_lowering *l, const dp_lower_opts *opts, const dpi_feature *f,
                            size_t k, dp_program_number *number)
{
    *number = (dp_program_number){.low = 1, .high = 1};
    for (size_t c = l->n_columns; c-- > 0;) {
        const dpi_lower_column *column = &l->column[c];
        double bounds[2] = {0, 1};
        if ((f->term >> c & 1) == 0)
            continue;
        size_t element = k % column->size;
        k /= column->size;
        if (number->n_factors == DP_PROGRAM_FACTORS) {
            dpi_lower_refuse(l, column->node, "it is the fifth column of a product");
            return false;
        }
        number->factor[number->n_factors++] =
            (dp_program_factor){.column = column->name,
                                .element = column->groups ? 0 : element,
                                .level = column->groups ? (int32_t)element : -1};
        if (!column->groups && !find_bounds(l, opts, column->name, element, bounds))
            return false;
        widen(bounds, number);
    }
    return true;
}

/* The window that moves over the whole input, if there is one. */
static const dpi_window *window_of_input(const dpi_lowering *l, const bool *needed, dpi_id target,
                                         size_t *channels)
{
    for (dpi_id i = 0; l->n_columns == 1 && l->n_features == 1 && i <= target; i++) {
        const dpi_node *node = dpi_get(l->g, i);
        dpi_lower_kind kind = dpi_lower_rules[node->op->id].kind;
        if (needed[i] && (kind == DPI_LOWER_PATCHES || kind == DPI_LOWER_POOL) &&
            node->in[0] == l->column[0].node) {
            *channels = node->attr.inner;
            return &node->attr.window;
        }
    }
    return NULL;
}

static bool add_input(dpi_lowering *l, const dp_lower_opts *opts, const bool *needed, dpi_id target)
{
    size_t channels = 0;
    const dpi_window *w = window_of_input(l, needed, target, &channels);
    dp_program_number number;
    if (l->n_features == 0) {
        dpi_lower_refuse(l, target, "it depends on no column of the record");
        return false;
    }
    if (w != NULL)
        (void)dp_program_image(l->p, w->image[0], w->image[1], channels, l->column[0].name, 0, 1);
    else
        (void)dp_program_input(l->p, l->n_inputs, l->column[0].name, 0, 1);
    for (size_t i = 0; i < l->n_features; i++)
        for (size_t k = 0; k < l->feature[i].size; k++) {
            if (!describe_number(l, opts, &l->feature[i], k, &number))
                return false;
            dp_program_declare(l->p, l->feature[i].first + k, &number);
        }
    return l->p->err.status == DP_OK;
}

/* ---- all together ---- */

static dp_status init(dpi_lowering *l, const dp_fit *fit)
{
    size_t n = fit->model->graph.n_nodes;
    l->g = &fit->model->graph;
    l->p = dp_program_new();
    l->reached = dpi_arena_alloc(&l->arena, n, sizeof *l->reached);
    l->global = dpi_arena_alloc(&l->arena, n, sizeof *l->global);
    l->terms = dpi_arena_alloc(&l->arena, n, sizeof *l->terms);
    l->stage = dpi_arena_alloc(&l->arena, n, sizeof *l->stage);
    if (l->p == NULL || l->reached == NULL || l->global == NULL || l->terms == NULL ||
        l->stage == NULL)
        return dpi_fail_nomem(l->err);
    for (size_t i = 0; i < n; i++)
        l->stage[i] = -1;
    return DP_OK;
}

static dp_status lower(dpi_lowering *l, const dp_fit *fit, const dp_lower_opts *opts, dpi_id target,
                       const dp_draws *draws)
{
    size_t n = (size_t)target + 1;
    bool *needed = dpi_arena_alloc(&l->arena, n, sizeof *needed);
    bool *seen = dpi_arena_alloc(&l->arena, n, sizeof *seen);
    if (needed == NULL || seen == NULL)
        return dpi_fail_nomem(l->err);
    dpi_mark(l->g, target, needed);
    bool good = reach(l, needed, target) && discover(l, target, seen);
    if (good)
        order_features(l);
    good = good && add_input(l, opts, needed, target) &&
           find_globals(l, fit, needed, target, draws) == DP_OK && dpi_lower_node(l, target) > 0;
    if (!good && l->p->err.status != DP_OK)
        (void)dpi_fail(l->err, l->p->err.status, "%s", l->p->err.text);
    if (!good && l->err->status == DP_OK)
        dpi_lower_refuse(l, target, "it is a column as it is");
    return l->err->status;
}

dp_status dp_program_of_fit(const dp_fit *fit, const char *name, const dp_lower_opts *opts,
                            dp_program **p, dp_error *err)
{
    static const dp_lower_opts none = {0};
    dp_error own = {0};
    dpi_lowering l = {.err = err != NULL ? err : &own};
    dp_draws *draws = NULL;
    dp_link link;
    *p = NULL;
    if (l.err->status != DP_OK)
        return l.err->status;
    opts = opts != NULL ? opts : &none;
    l.draws = opts->draws > 0 ? opts->draws : 1;
    dpi_id target = find_target(fit, name, &link, l.err);
    dp_status status = target == DPI_NONE ? l.err->status : init(&l, fit);
    if (status == DP_OK)
        status = take_draws(fit, opts, &draws, l.err);
    if (status == DP_OK)
        status = lower(&l, fit, opts, target, draws);
    if (status == DP_OK) {
        dp_program_answer(l.p, link, l.draws);
        *p = l.p;
    } else {
        dp_program_free(l.p);
    }
    dp_draws_free(draws);
    dpi_arena_free(&l.arena);
    return status;
}
