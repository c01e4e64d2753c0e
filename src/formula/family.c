/* The table of families. */
#include "formula/family.h"

#include <string.h>

static const char *const links[] = {
    [DPI_IDENTITY] = "identity", [DPI_LOG] = "log",         [DPI_LOGIT] = "logit",
    [DPI_PROBIT] = "probit",     [DPI_CLOGLOG] = "cloglog",
};

/* clang-format off */
static const dpi_response_family families[] = {
    {"gaussian",    DPI_OUTCOME_REAL,     2, {DPI_IDENTITY, DPI_LOG},
     1, {{"sigma", DPI_LOG}}, false},
    {"student",     DPI_OUTCOME_REAL,     1, {DPI_IDENTITY},
     2, {{"sigma", DPI_LOG}, {"nu", DPI_LOG}}, false},
    {"lognormal",   DPI_OUTCOME_POSITIVE, 1, {DPI_IDENTITY},
     1, {{"sigma", DPI_LOG}}, false},
    {"gamma",       DPI_OUTCOME_POSITIVE, 1, {DPI_LOG},
     1, {{"shape", DPI_LOG}}, false},
    {"exponential", DPI_OUTCOME_POSITIVE, 1, {DPI_LOG},
     0, {{0}}, false},
    {"beta",        DPI_OUTCOME_SHARE,    3, {DPI_LOGIT, DPI_PROBIT, DPI_CLOGLOG},
     1, {{"phi", DPI_LOG}}, false},
    {"bernoulli",   DPI_OUTCOME_BINARY,   3, {DPI_LOGIT, DPI_PROBIT, DPI_CLOGLOG},
     0, {{0}}, false},
    {"binomial",    DPI_OUTCOME_COUNT,    3, {DPI_LOGIT, DPI_PROBIT, DPI_CLOGLOG},
     0, {{0}}, true},
    {"poisson",     DPI_OUTCOME_COUNT,    1, {DPI_LOG},
     0, {{0}}, false},
    {"categorical", DPI_OUTCOME_CATEGORY, 1, {DPI_LOGIT},
     0, {{0}}, false},
};
/* clang-format on */

enum { N_FAMILIES = sizeof families / sizeof families[0] };

const char *dpi_link_name(dpi_link link)
{
    return links[link];
}

/* "gaussian, student, ..." */
static const char *list_families(dpi_arena *arena)
{
    dpi_bytes text = {0};
    for (size_t i = 0; i < N_FAMILIES; i++) {
        dpi_text_add(&text, i > 0 ? ", " : "");
        dpi_text_add(&text, families[i].name);
    }
    const char *list = dpi_text_take(&text, arena);
    return list != NULL ? list : "";
}

static const char *list_links(const dpi_response_family *family, dpi_arena *arena)
{
    dpi_bytes text = {0};
    for (size_t i = 0; i < family->n_links; i++) {
        dpi_text_add(&text, i > 0 ? ", " : "");
        dpi_text_add(&text, links[family->link[i]]);
    }
    const char *list = dpi_text_take(&text, arena);
    return list != NULL ? list : "";
}

static dp_status take_link(const dpi_script *s, const dpi_tree *call, dpi_arena *arena,
                           dpi_response *response)
{
    const dpi_response_family *family = response->family;
    const dpi_tree *link = call->first;
    response->link = family->link[0];
    if (link == NULL)
        return DP_OK;
    if (link->kind != DPI_TREE_NAME || link->next != NULL ||
        (link->label != NULL && strcmp(link->label, "link") != 0))
        return dpi_script_fail(s, DP_EINVAL, link->at,
                               "a family has one argument, its link: %s(%s)", family->name,
                               links[family->link[0]]);
    for (size_t i = 0; i < family->n_links; i++)
        if (strcmp(links[family->link[i]], link->name) == 0) {
            response->link = family->link[i];
            return DP_OK;
        }
    return dpi_script_fail(s, DP_EINVAL, link->at, "the family %s has no link '%.40s'; it has %s",
                           family->name, link->name, list_links(family, arena));
}

dp_status dpi_response_parse(const char *text, dpi_arena *arena, dpi_response *response,
                             dp_error *err)
{
    const dpi_script script = {.text = text, .size = strlen(text), .err = err};
    dpi_tree *call;
    *response = (dpi_response){0};
    const dp_status status = dpi_parse_call(&script, arena, &call);
    if (status != DP_OK)
        return status;
    for (size_t i = 0; i < N_FAMILIES; i++)
        if (strcmp(families[i].name, call->name) == 0)
            response->family = &families[i];
    if (response->family == NULL)
        return dpi_script_fail(&script, DP_EINVAL, call->at, "no family '%.40s'; there are %s",
                               call->name, list_families(arena));
    return take_link(&script, call, arena, response);
}
