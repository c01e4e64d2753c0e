/* Names of a plan's numbers, and widths that are wished of them. */
#define _POSIX_C_SOURCE 200809L
#include "tools/forecast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/groups.h>

const double forecast_width = 3.2897072539029443; /* 2 times the 95 % quantile */

/* "r_district__Intercept[34]" becomes "r_district__Intercept[35]" where that is its name. */
static void name_group(const forecast *f, char name[FORECAST_NAME])
{
    char level[DP_GROUP_ROOM], *bracket = strchr(name, '[');
    size_t size = 0;
    if (bracket == NULL || strncmp(name, "r_", 2) != 0)
        return;
    for (size_t k = 0; k < f->n; k++)
        size += strncmp(f->number[k].name, name, (size_t)(bracket - name) + 1) == 0;
    const unsigned long place = strtoul(bracket + 1, NULL, 10);
    *bracket = '\0';
    const dp_groups by = dp_groups_of(f->m.schema, name, size);
    *bracket = '[';
    if (by.n_by == 0 || place >= size)
        return;
    dp_groups_level(&by, place, sizeof level, level);
    (void)snprintf(bracket, FORECAST_NAME - (size_t)(bracket - name), "[%s]", level);
}

double forecast_name(const forecast *f, const char *latent, char name[FORECAST_NAME])
{
    size_t n;
    const dp_formula_number *known = dp_formula_numbers(f->m.formula, &n);
    (void)snprintf(name, FORECAST_NAME, "%s", latent);
    for (size_t k = 0; k < n; k++) {
        const size_t length = strlen(known[k].latent);
        if (strncmp(latent, known[k].latent, length) != 0 ||
            (latent[length] != '\0' && latent[length] != '['))
            continue;
        (void)snprintf(name, FORECAST_NAME, "%s%s", known[k].name, latent + length);
        name_group(f, name);
        return fabs(known[k].unit);
    }
    name_group(f, name);
    return 1;
}

bool forecast_is_slope(const char *name)
{
    const size_t n = strlen(name), end = strlen("Intercept");
    return strncmp(name, "b_", 2) == 0 && (n < end || strcmp(name + n - end, "Intercept") != 0);
}

static bool add(forecast *f, const dp_formula_number *known, const char *name, const char *rest,
                double width, message *why)
{
    if (f->n_wishes == FORECAST_WISHES)
        return complain(why, "--width has more than %d wishes; name those that matter",
                        FORECAST_WISHES);
    forecast_wish *w = &f->wish[f->n_wishes];
    w->unit = known != NULL ? fabs(known->unit) : 1;
    w->width = width;
    (void)snprintf(w->name, sizeof w->name, "%s", name);
    (void)snprintf(w->latent, sizeof w->latent, "%s%s", known != NULL ? known->latent : name,
                   known != NULL ? rest : "");
    f->asked[f->n_wishes++] = (dp_plan_wish){w->latent, width / (forecast_width * w->unit)};
    return true;
}

/* What has the name, or is of the groups that have it: r_district__Intercept[3]. */
static const dp_formula_number *find(const dp_formula_number *known, size_t n, const char *name)
{
    const size_t length = strcspn(name, "[");
    for (size_t k = 0; k < n; k++)
        if (strcmp(known[k].name, name) == 0)
            return &known[k];
    for (size_t k = 0; k < n; k++)
        if (strncmp(known[k].name, name, length) == 0 && known[k].name[length] == '\0')
            return &known[k];
    return NULL;
}

static bool unknown(const dp_formula_number *known, size_t n, const char *name, message *why)
{
    char first[FORECAST_NAME] = "";
    for (size_t k = 0; k < n && first[0] == '\0'; k++)
        if (forecast_is_slope(known[k].name))
            (void)snprintf(first, sizeof first, ", as %.100s is", known[k].name);
    return complain(why,
                    "--width: '%.80s' is no coefficient of this formula%s; tacit plan without "
                    "--width lists them",
                    name, first);
}

static char *trimmed(char *text)
{
    text += strspn(text, " \t\n");
    for (size_t n = strlen(text); n > 0 && strchr(" \t\n", text[n - 1]) != NULL; n--)
        text[n - 1] = '\0';
    return text;
}

static bool good_width(const char *text, double *width, message *why)
{
    if (options_number(text, width) && *width > 0 && isfinite(*width))
        return true;
    return complain(why,
                    "--width: '%.60s' is no width; give a number above 0 for all coefficients, or "
                    "NAME=W;..., as in --width 'b_age = 0.1'",
                    text);
}

static bool read_one(forecast *f, char *text, message *why)
{
    size_t n;
    double width;
    const dp_formula_number *known = dp_formula_numbers(f->m.formula, &n);
    char *equals = strrchr(text, '=');
    if (!good_width(trimmed(equals != NULL ? equals + 1 : text), &width, why))
        return false;
    if (equals != NULL) {
        *equals = '\0';
        const char *name = trimmed(text);
        const dp_formula_number *of = find(known, n, name);
        return of != NULL ? add(f, of, name, name + strcspn(name, "["), width, why)
                          : unknown(known, n, name, why);
    }
    const size_t before = f->n_wishes;
    for (size_t k = 0; k < n; k++)
        if (forecast_is_slope(known[k].name) && !add(f, &known[k], known[k].name, "", width, why))
            return false;
    return f->n_wishes > before ||
           complain(why, "--width: this formula has no coefficient but the intercept; name what is "
                         "meant, as in --width 'Intercept = 0.5'");
}

bool forecast_read_wishes(forecast *f, message *why)
{
    char *left;
    if (f->m.said.wanted == NULL)
        return true;
    char *text = strdup(f->m.said.wanted);
    bool good = text != NULL || complain(why, "out of memory");
    for (char *one = good ? strtok_r(text, ";", &left) : NULL; one != NULL && good;
         one = strtok_r(NULL, ";", &left))
        good = *trimmed(one) == '\0' || read_one(f, one, why);
    free(text);
    return good;
}
