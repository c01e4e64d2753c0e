/* What a fit says, by the public calls of tacit/fit.h.  Latents that are a scale of their own,
 * "scaled.b_age" of a formula, are left to those who ask the file for them. */
#include "tools/tell-fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/groups.h>

#include "tools/json.h"

enum { LISTED = 2000 }; /* numbers of a quantity, at most, in a JSON object */

dp_status tell_fit(const dp_fit *fit, dp_error *err)
{
    const dp_fit_source *s = dp_fit_get_source(fit);
    if (s != NULL)
        (void)printf("%s\nfamily %s%s%s\n\n", s->formula, s->family,
                     s->priors != NULL ? ", priors " : "", s->priors != NULL ? s->priors : "");
    return dp_fit_print(fit, stdout, err);
}

static bool is_told(const dp_fit_quantity *q)
{
    return !q->per_record && q->size <= LISTED && strncmp(q->name, "scaled.", 7) != 0 &&
           (q->role == DP_FIT_LATENT || q->role == DP_FIT_DETERMINISTIC);
}

static void tell_number(json *j, const dp_fit_quantity *q, const dp_groups *by, size_t k,
                        const dp_summary *s)
{
    char level[DP_GROUP_ROOM];
    json_object(j, NULL);
    json_text(j, "name", q->name);
    if (q->size > 1)
        json_count(j, "index", k);
    if (by->n_by > 0) {
        dp_groups_level(by, k, DP_GROUP_ROOM, level);
        json_text(j, "group", level);
    }
    json_number(j, "mean", s->mean);
    json_number(j, "sd", s->sd);
    json_number(j, "q05", s->q05);
    json_number(j, "q50", s->q50);
    json_number(j, "q95", s->q95);
    json_end_object(j);
}

static dp_status tell_numbers(json *j, const dp_fit *fit, dp_error *err)
{
    dp_schema *schema = dp_groups_schema(fit);
    size_t n;
    const dp_fit_quantity *q = dp_fit_quantities(fit, &n);
    dp_summary *all = malloc(LISTED * sizeof *all);
    dp_status status = all != NULL ? DP_OK : DP_ENOMEM;
    json_list(j, "numbers");
    for (size_t i = 0; i < n && status == DP_OK; i++) {
        if (!is_told(&q[i]))
            continue;
        status = dp_fit_summary(fit, q[i].name, q[i].size, all, err);
        const dp_groups by = dp_groups_of(schema, q[i].name, q[i].size);
        for (size_t k = 0; k < q[i].size && status == DP_OK; k++)
            tell_number(j, &q[i], &by, k, &all[k]);
    }
    json_end_list(j);
    free(all);
    dp_schema_free(schema);
    return status;
}

static void tell_privacy(json *j, const dp_fit *fit)
{
    dp_privacy p;
    dp_fit_privacy(fit, &p);
    json_truth(j, "private", p.is_private);
    json_text(j, "why_not", p.why_not);
    json_number(j, "epsilon", p.epsilon);
    json_number(j, "delta", p.delta);
    json_text(j, "adjacency", p.adjacency);
    json_text(j, "warning", p.warning);
}

static void tell_phases(json *j, const dp_fit *fit)
{
    size_t n;
    const dp_fit_phase *phase = dp_fit_phases(fit, &n);
    json_list(j, "releases");
    for (size_t k = 0; k < n; k++) {
        json_object(j, NULL);
        json_text(j, "name", phase[k].name);
        json_count(j, "count", phase[k].releases);
        json_number(j, "sigma", phase[k].sigma);
        json_number(j, "clip", phase[k].clip);
        json_end_object(j);
    }
    json_end_list(j);
}

static void tell_checks(json *j, const dp_fit *fit)
{
    size_t n;
    const dp_diagnostic *d = dp_fit_diagnostics(fit, &n);
    json_list(j, "checks");
    for (size_t k = 0; k < n; k++) {
        json_object(j, NULL);
        json_text(j, "name", d[k].name);
        json_truth(j, "bad", d[k].bad);
        json_number(j, "value", d[k].value);
        json_number(j, "limit", d[k].limit);
        json_text(j, "words", d[k].words);
        json_end_object(j);
    }
    json_end_list(j);
}

dp_status tell_fit_json(const char *command, const dp_fit *fit, const char *out, dp_error *err)
{
    const dp_fit_source *s = dp_fit_get_source(fit);
    json j = json_begin(stdout);
    json_text(&j, "command", command);
    json_text(&j, "formula", s != NULL ? s->formula : NULL);
    json_text(&j, "family", s != NULL ? s->family : NULL);
    json_text(&j, "priors", s != NULL ? s->priors : NULL);
    json_text(&j, "schema", s != NULL ? s->schema : NULL);
    json_text(&j, "fit", out);
    tell_privacy(&j, fit);
    dp_status status = tell_numbers(&j, fit, err);
    tell_phases(&j, fit);
    tell_checks(&j, fit);
    json_end(&j);
    return status;
}
