/* The statement of privacy stands here and not in the files: CSV has no place for it. */
#include "tools/tell-twins.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tools/json.h"
#include "tools/table-source.h"

enum { LISTED = 20 }; /* pairs in a listing for people */

/* Total variation by noise from which on a column's shares say too little. */
static const double too_noisy = 0.25;

static const char *const source_name[] = {"invented", "public", "paid"};

/* ---- for people ---- */

static void tell_predictors(const twins *t)
{
    const predictors *p = &t->from;
    switch (p->source) {
    case PREDICTORS_INVENTED:
        (void)printf("predictors: invented, each value of the schema equally likely and columns "
                     "independent.\n    Only the outcome given the predictors is what the fit has "
                     "found; --public or --data gives others.\n");
        break;
    case PREDICTORS_PUBLIC:
        (void)printf("predictors: records of %s, drawn with replacement as they are; they must be "
                     "public\n",
                     table_shown(t->m.said.public_data));
        break;
    case PREDICTORS_PAID:
        (void)printf("predictors: drawn from private tables of each column%s, with noise of %.3g "
                     "records in each cell\n",
                     p->pairs ? " and of each two" : "", p->noise);
        for (size_t j = 0; j < p->tree.n; j++)
            if (p->tree.node[j].parent != SIZE_MAX)
                (void)printf("    %s given %s (%.3g standard deviations from independence)\n",
                             p->columns[j].name, p->columns[p->tree.node[j].parent].name,
                             p->tree.node[j].kept[1]);
        if (!p->pairs)
            (void)printf("    Pairs were not counted: predictors are independent of each other in "
                         "the twins.\n");
        break;
    }
}

/* Columns whose tables are mostly noise. */
static void tell_noisy(const predictors *p)
{
    for (size_t j = 0; j < p->n; j++)
        if (predictors_noise(p, j) > too_noisy)
            (void)printf("BAD  noise of '%s': it moves the shares by some %.2g in total "
                         "variation; spend more, or take predictors that are invented\n",
                         p->columns[j].name, predictors_noise(p, j));
}

/* What the private tables cost, and all together. */
static void tell_tables(const twins *t, const dp_privacy *fit)
{
    const dp_privacy *tables = &t->from.privacy;
    (void)printf("    and epsilon %.6g at delta %.6g (%s) on %llu table%s, sigma %.4g\n",
                 tables->epsilon, tables->delta, tables->adjacency,
                 (unsigned long long)tables->steps, tables->steps == 1 ? "" : "s", tables->sigma);
    if (fit->is_private)
        (void)printf("    together at most epsilon %.6g at delta %.6g, where both are of the same "
                     "records\n",
                     fit->epsilon + tables->epsilon, fit->delta + tables->delta);
    if (!isnan(t->spent))
        (void)printf("on '%s' in all: epsilon %.6g\n", t->who.name, t->spent);
    else
        (void)printf("No ledger adds it to what else is spent on these records.\n");
    if (fit->is_private)
        (void)printf("Further twins cost nothing with one of these as --public.\n");
}

static void tell_privacy(const twins *t)
{
    dp_privacy fit;
    dp_fit_privacy(t->maker.fit, &fit);
    if (!fit.is_private)
        (void)printf("NOT PRIVATE: %s\n", fit.why_not);
    else
        (void)printf("privacy: epsilon %.6g at delta %.6g (%s), spent on the fit; outcomes cost "
                     "nothing more\n",
                     fit.epsilon, fit.delta, fit.adjacency);
    if (t->from.source == PREDICTORS_PAID)
        tell_tables(t, &fit);
    else if (fit.is_private)
        (void)printf("    How many twins there are, and how long, changes nothing.\n");
}

static void tell_item(const closeness_item *c)
{
    char name[420];
    (void)snprintf(name, sizeof name, "%s%s%s", c->first, c->second != NULL ? " : " : "",
                   c->second != NULL ? c->second : "");
    (void)printf("%-40s %10.4f %10.4f\n", name, c->distance, c->chance);
}

static void tell_closeness(const twins *t)
{
    const closeness *c = &t->close;
    size_t pairs = 0;
    if (c->n == 0)
        return;
    (void)printf("\n%-40s %10s %10s\n", "total variation, mean of the twins", "distance",
                 "by chance");
    for (size_t i = 0; i < c->n; i++) {
        pairs += c->item[i].second != NULL;
        if (pairs <= LISTED)
            tell_item(&c->item[i]);
    }
    if (pairs > LISTED)
        (void)printf("  and %zu further pairs (--json lists all)\n", pairs - LISTED);
    if (c->paid != NULL)
        (void)printf("to the private tables, whose noise is in it; made of these, at no cost\n");
    else
        (void)printf(
            "to the tables of %s\n",
            table_shown(t->m.said.compare != NULL ? t->m.said.compare : t->m.said.public_data));
}

/* What twins inherit of the fit that they should not be trusted with. */
static const dp_diagnostic *first_bad(const twins *t)
{
    size_t n;
    const dp_diagnostic *d = dp_fit_diagnostics(t->maker.fit, &n);
    for (size_t i = 0; i < n; i++)
        if (d[i].bad)
            return &d[i];
    return NULL;
}

void tell_twins(const twins *t)
{
    const dp_diagnostic *bad = first_bad(t);
    (void)printf("%s\nfamily %s\n\n", dp_formula_text(t->m.formula),
                 dp_formula_family(t->m.formula));
    (void)printf("%zu twin%s of %zu rows: %s%s%s\n", t->n, t->n == 1 ? "" : "s", t->rows,
                 t->path[0], t->n > 1 ? " ... " : "", t->n > 1 ? t->path[t->n - 1] : "");
    tell_predictors(t);
    (void)printf("outcome: %s drawn by the fit, each twin by a draw of the posterior of its own\n",
                 t->maker.outcome->name);
    if (t->maker.ended > 0)
        (void)printf("    %.3g %% of the draws were outside the schema and were drawn again\n",
                     100 * (double)t->maker.ended / (double)t->maker.made);
    tell_privacy(t);
    tell_noisy(&t->from);
    if (bad != NULL)
        (void)printf("BAD  %s of the fit, which the twins inherit: %s\n", bad->name, bad->words);
    tell_closeness(t);
    if (t->n > 1)
        (void)printf("\nAnalyse each by itself; tacit combine makes one answer of them.\n");
    else
        (void)printf("\nOne twin does not tell what is not known: intervals need --twins 5 or "
                     "more.\n");
}

/* ---- JSON ---- */

static void put_privacy(json *j, const char *name, const dp_privacy *p)
{
    json_object(j, name);
    json_truth(j, "private", p->is_private);
    json_text(j, "why_not", p->why_not);
    json_number(j, "epsilon", p->epsilon);
    json_number(j, "delta", p->delta);
    json_text(j, "adjacency", p->adjacency);
    json_end_object(j);
}

static void put_noise(json *j, const predictors *p)
{
    json_list(j, "noise_of");
    for (size_t k = 0; k < p->n; k++) {
        json_object(j, NULL);
        json_text(j, "column", p->columns[k].name);
        json_number(j, "distance", predictors_noise(p, k));
        json_truth(j, "bad", predictors_noise(p, k) > too_noisy);
        json_end_object(j);
    }
    json_end_list(j);
}

static void put_links(json *j, const predictors *p)
{
    json_list(j, "links");
    for (size_t k = 0; k < p->tree.n; k++) {
        const tree_node *node = &p->tree.node[k];
        if (node->parent == SIZE_MAX)
            continue;
        json_object(j, NULL);
        json_text(j, "column", p->columns[k].name);
        json_text(j, "given", p->columns[node->parent].name);
        json_number(j, "information", node->kept[0]);
        json_number(j, "deviations", node->kept[1]);
        json_end_object(j);
    }
    json_end_list(j);
}

static void put_closeness(json *j, const twins *t)
{
    json_list(j, "closeness");
    for (size_t i = 0; i < t->close.n; i++) {
        const closeness_item *c = &t->close.item[i];
        json_object(j, NULL);
        json_text(j, "first", c->first);
        json_text(j, "second", c->second);
        json_number(j, "distance", c->distance);
        json_number(j, "chance", c->chance);
        json_end_object(j);
    }
    json_end_list(j);
}

void tell_twins_json(const twins *t)
{
    json j = json_begin(stdout);
    dp_privacy fit;
    const dp_diagnostic *bad = first_bad(t);
    const predictors *p = &t->from;
    dp_fit_privacy(t->maker.fit, &fit);
    json_text(&j, "command", "synth");
    json_text(&j, "formula", dp_formula_text(t->m.formula));
    json_text(&j, "family", dp_formula_family(t->m.formula));
    json_text(&j, "outcome", t->maker.outcome->name);
    json_count(&j, "rows", t->rows);
    json_list(&j, "files");
    for (size_t k = 0; k < t->n; k++)
        json_text(&j, NULL, t->path[k]);
    json_end_list(&j);
    json_text(&j, "predictors", source_name[p->source]);
    json_text(&j, "public",
              p->source == PREDICTORS_PUBLIC ? table_shown(t->m.said.public_data) : NULL);
    json_number(&j, "redrawn", (double)t->maker.ended / (double)t->maker.made);
    put_privacy(&j, "fit", &fit);
    if (p->source == PREDICTORS_PAID) {
        put_privacy(&j, "tables", &p->privacy);
        json_number(&j, "noise", p->noise);
        put_noise(&j, p);
        json_truth(&j, "pairs", p->pairs);
        put_links(&j, p);
        json_number(&j, "epsilon_together",
                    fit.is_private ? fit.epsilon + p->privacy.epsilon : NAN);
        json_number(&j, "delta_together", fit.is_private ? fit.delta + p->privacy.delta : NAN);
        json_text(&j, "data", t->who.name);
        json_number(&j, "spent_upper", t->spent);
    }
    json_text(&j, "bad", bad != NULL ? bad->words : NULL);
    put_closeness(&j, t);
    json_end(&j);
}
