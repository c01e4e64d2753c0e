/* Every line is applied as it is read: a policy is a list of conditions, all of which must hold. */
#include "silo/policy.h"

#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"
#include "base/plain.h"
#include "silo/describe.h"
#include "silo/keys.h"
#include "wire/lines.h"

enum { MOST_VALUE = 900 };

/* What is allowed where all lines of its key say `yes`, and there is one. */
typedef struct site_allowance {
    bool yes, no;
} site_allowance;

static bool allowed(site_allowance a)
{
    return a.yes && !a.no;
}

typedef struct site {
    dpi_lines lines;
    const dp_silo_plan *plan;
    bool schemes, epsilon, delta, owners, colluders, local_steps; /* said */
    site_allowance noise_free, linked, told, single;
    bool any_model, this_model; /* a line of models, and one of the plan's */
    bool any_owner;
    uint64_t known; /* a bit each: owners of the plan that a line names */
    dp_error *err;
} site;

static dp_status forbid(const site *s, const char *what)
{
    return dpi_fail(s->err, DP_EPRIVACY,
                    "the policy of this site, %.150s:%zu, does not allow it: %s; nothing has left",
                    s->lines.file, s->lines.number, what);
}

static dp_status number_of(site *s, const char *text, double *value)
{
    size_t n;
    *value = dpi_plain_real(text, &n);
    if (n == 0 || text[n] != '\0' || !(*value >= 0) || !isfinite(*value))
        return dpi_lines_fail(&s->lines, s->err, "a number is needed, as 2 or 1e-5", text);
    return DP_OK;
}

static dp_status apply_schemes(site *s, char *text)
{
    bool found = false;
    s->schemes = true;
    while (*text != '\0') {
        const char *word = dpi_lines_word(&text);
        if (dpi_silo_scheme_named(word) == NULL)
            return dpi_lines_fail(&s->lines, s->err, "there is no such scheme", word);
        found |= strcmp(word, s->plan->opts.scheme) == 0;
    }
    return found ? DP_OK : forbid(s, "its scheme");
}

static dp_status apply_number(site *s, const char *key, const char *text)
{
    const dp_silo_opts *o = &s->plan->opts;
    double limit;
    dp_status status = number_of(s, text, &limit);
    if (status != DP_OK)
        return status;
    if (strcmp(key, "epsilon") == 0) {
        s->epsilon = true;
        return o->epsilon <= limit ? DP_OK : forbid(s, "its epsilon is larger");
    }
    if (strcmp(key, "delta") == 0) {
        s->delta = true;
        return o->delta <= limit ? DP_OK : forbid(s, "its delta is larger");
    }
    if (strcmp(key, "owners") == 0) {
        s->owners = true;
        return (double)o->n_owners >= limit ? DP_OK : forbid(s, "it has fewer owners");
    }
    if (strcmp(key, "local-steps") == 0) {
        s->local_steps = true;
        return (double)o->local_steps <= limit
                   ? DP_OK
                   : forbid(s, "its owners take more steps by themselves");
    }
    s->colluders = true;
    return (double)o->colluders >= limit ? DP_OK : forbid(s, "it reckons with fewer colluders");
}

static dp_status apply_owner(site *s, const char *text)
{
    unsigned char key[DPI_SILO_KEY];
    if (!dpi_silo_public_read(text, key))
        return dpi_lines_fail(&s->lines, s->err, "an owner is tacit-owner: and 64 digits", text);
    s->any_owner = true;
    for (size_t k = 0; k < s->plan->opts.n_owners; k++)
        if (memcmp(key, s->plan->keys[k], sizeof key) == 0)
            s->known |= (uint64_t)1 << k;
    return DP_OK;
}

static dp_status apply_model(site *s, const char *text)
{
    unsigned char hash[DP_MODEL_HASH];
    size_t n = 0;
    if (sodium_hex2bin(hash, sizeof hash, text, strlen(text), NULL, &n, NULL) != 0 ||
        n != sizeof hash || strlen(text) != 2 * sizeof hash)
        return dpi_lines_fail(&s->lines, s->err, "a model is 64 hexadecimal digits", text);
    s->any_model = true;
    s->this_model |= memcmp(hash, s->plan->model, sizeof hash) == 0;
    return DP_OK;
}

/* NULL: it is no such key. */
static site_allowance *allowance_of(site *s, const char *key)
{
    return strcmp(key, "no-noise") == 0            ? &s->noise_free
           : strcmp(key, "link-ids") == 0          ? &s->linked
           : strcmp(key, "tell-coefficients") == 0 ? &s->told
           : strcmp(key, "single-records") == 0    ? &s->single
                                                   : NULL;
}

static dp_status apply_allowance(site *s, const char *text, site_allowance *a)
{
    const bool yes = strcmp(text, "yes") == 0, no = strcmp(text, "no") == 0;
    a->yes |= yes;
    a->no |= no;
    return yes || no ? DP_OK : dpi_lines_fail(&s->lines, s->err, "this is yes or no", text);
}

static dp_status apply(site *s)
{
    char *value = s->lines.line, *key = dpi_lines_word(&value);
    const char *equals = dpi_lines_word(&value);
    if (strcmp(equals, "=") != 0 || *value == '\0' || strlen(value) > MOST_VALUE)
        return dpi_lines_fail(&s->lines, s->err, "a line is KEY = VALUE", key);
    if (strcmp(key, "schemes") == 0)
        return apply_schemes(s, value);
    if (strcmp(key, "owner") == 0)
        return apply_owner(s, value);
    if (strcmp(key, "model") == 0)
        return apply_model(s, value);
    site_allowance *a = allowance_of(s, key);
    if (a != NULL)
        return apply_allowance(s, value, a);
    if (strcmp(key, "epsilon") == 0 || strcmp(key, "delta") == 0 || strcmp(key, "owners") == 0 ||
        strcmp(key, "colluders") == 0 || strcmp(key, "local-steps") == 0)
        return apply_number(s, key, value);
    return dpi_lines_fail(&s->lines, s->err, "a policy has no such key", key);
}

static dp_status forbid_all(const site *s, const char *what)
{
    return dpi_fail(s->err, DP_EPRIVACY,
                    "the policy of this site, %.150s, does not allow it: %s; nothing has left",
                    s->lines.file, what);
}

/* What a plan of columns, or of three parties, tells beside its steps. */
static dp_status conclude_columns(const site *s)
{
    const dp_silo_opts *o = &s->plan->opts;
    const bool links = o->columns != NULL || (o->trio != NULL && o->trio->ids != NULL);
    const bool tells = o->columns != NULL ? o->columns->told : o->trio != NULL && o->trio->told;
    if (links && !allowed(s->linked))
        return forbid_all(s, "it links ids, so that owners learn which people are at both, "
                             "and there is no `link-ids = yes`");
    if (dpi_silo_plan_is_split(s->plan) && !allowed(s->single))
        return forbid_all(s, "it tells the other owner numbers of every single record, without "
                             "noise, and there is no `single-records = yes`");
    if (tells && !allowed(s->told))
        return forbid_all(s, "it tells others this owner's coefficients, and there is no "
                             "`tell-coefficients = yes`");
    return DP_OK;
}

/* What all lines together say. */
static dp_status conclude(const site *s)
{
    if (!s->schemes || !s->epsilon || !s->delta || !s->owners)
        return dpi_fail(s->err, DP_EDATA,
                        "%.200s does not say `%s`: what a policy does not say it does not allow",
                        s->lines.file,
                        !s->schemes   ? "schemes"
                        : !s->epsilon ? "epsilon"
                        : !s->delta   ? "delta"
                                      : "owners");
    const dpi_silo_scheme *scheme = dpi_silo_scheme_named(s->plan->opts.scheme);
    const bool noisy = scheme->noisy;
    if (!noisy && !allowed(s->noise_free))
        return forbid_all(s, "its scheme has no noise, and there is no `no-noise = yes`");
    if (scheme->averages && !noisy && !s->local_steps)
        return forbid_all(s, "its owners take steps by themselves, which tell the more of single "
                             "records the more they are, and there is no `local-steps = K`");
    if (noisy && !scheme->averages && !s->colluders && s->plan->opts.colluders == 0 &&
        s->plan->opts.n_owners > 1)
        return forbid_all(s,
                          "its epsilon is larger against another owner, since it reckons with no "
                          "colluders, and there is no `colluders = 0`");
    if (s->any_model && !s->this_model)
        return forbid_all(s, "its model is none of those that are listed");
    for (size_t k = 0; s->any_owner && k < s->plan->opts.n_owners; k++)
        if ((s->known >> k & 1) == 0)
            return forbid_all(s, "one of its owners is none of those that are listed");
    return conclude_columns(s);
}

dp_status dpi_site_policy_apply(const char *text, size_t n, const char *file,
                                const dp_silo_plan *plan, dp_error *err)
{
    site s = {.lines = {.at = text, .n = n, .file = file}, .plan = plan, .err = err};
    bool there = true;
    dp_status status = DP_OK;
    while (status == DP_OK && there) {
        status = dpi_lines_next(&s.lines, &there, err);
        if (status == DP_OK && there)
            status = apply(&s);
    }
    return status == DP_OK ? conclude(&s) : status;
}

/* What tells the other of single records runs where a site has said that it may, and nowhere by
 * default. */
static dp_status check_without(const dp_silo_plan *plan, dp_error *err)
{
    const dpi_silo_scheme *scheme = dpi_silo_scheme_named(plan->opts.scheme);
    return !scheme->single
               ? DP_OK
               : dpi_fail(err, DP_EPRIVACY,
                          "scheme %s tells the other owner numbers of every single record, without "
                          "noise, and runs only where the site's policy says `single-records = "
                          "yes`; give such a policy, or take scheme columns+dp",
                          scheme->name);
}

dp_status dpi_site_policy_check(const char *path, const dp_silo_plan *plan, dp_error *err)
{
    char *text;
    size_t n;
    if (path == NULL)
        return check_without(plan, err);
    dp_status status = dpi_lines_file(path, &text, &n, err);
    if (status != DP_OK)
        return status;
    status = dpi_site_policy_apply(text, n, path, plan, err);
    dpi_free(text);
    return status;
}
