/* Making a plan, and its text. */
#include "silo/plan.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include <tacit/accountant.h>

#include "base/compiler.h"
#include "base/error.h"
#include "base/name.h"
#include "silo/describe.h"
#include "silo/keys.h"
#include "silo/print.h"

enum { MOST_TEXT = 64 * 1024, MOST_SCHEMA = 1024 * 1024, MOST_NAME = 15 };

/* By which the cost of a plan may differ between processors, whose functions round apart.  What the
 * fit may spend is epsilon itself. */
static const double digits = 1e-9;

/* Records of one owner where nothing is said of them. */
static const uint64_t usual_records = (uint64_t)1 << 20;

static void say_text(dpi_bytes *b, const char *key, const char *text)
{
    dpi_silo_say(b, "%s = ", key);
    dpi_bytes_add(b, text, strlen(text));
    dpi_bytes_add(b, "\n", 1);
}

/* Lines of a text with "| " before each. */
static void say_block(dpi_bytes *b, const char *key, const char *text)
{
    dpi_silo_say(b, "%s:\n", key);
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        dpi_bytes_add(b, "| ", 2);
        dpi_bytes_add(b, text, n);
        dpi_bytes_add(b, "\n", 1);
        text += n + (text[n] == '\n');
    }
}

size_t dpi_silo_honest(const dp_silo_opts *o)
{
    return o->n_owners - o->dropouts - o->colluders;
}

/* ---- checks ---- */

/* NULL for none. */
static const dpi_silo_scheme *scheme_of(const dp_silo_opts *o)
{
    return o->scheme != NULL ? dpi_silo_scheme_named(o->scheme) : NULL;
}

static bool is_name(const char *name)
{
    size_t n = name != NULL ? strlen(name) : 0;
    return n >= 1 && n <= MOST_NAME && name[0] >= 'a' && name[0] <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == n;
}

static dp_status check_owners(dp_silo_plan *p, dp_error *err)
{
    const dp_silo_opts *o = &p->opts;
    if (o->n_owners < 1 || o->n_owners > DP_OWNERS_MOST)
        return dpi_fail(err, DP_EINVAL, "a plan has 1 to %d owners, and this has %zu",
                        DP_OWNERS_MOST, o->n_owners);
    for (size_t k = 0; k < o->n_owners; k++) {
        if (!is_name(o->owners[k].name))
            return dpi_fail(err, DP_EINVAL,
                            "owner %zu needs a name of 1 to %d small letters, digits, _ and -, a "
                            "letter first",
                            k + 1, MOST_NAME);
        memcpy(p->names[k], o->owners[k].name, strlen(o->owners[k].name) + 1);
        if (!dpi_silo_public_read(o->owners[k].key, p->keys[k]))
            return dpi_fail(err, DP_EINVAL,
                            "owner %s has no key: give the line tacit-owner:... that tacit silo "
                            "keys has printed at %s",
                            p->names[k], p->names[k]);
        for (size_t j = 0; j < k; j++)
            if (strcmp(p->names[j], p->names[k]) == 0 ||
                memcmp(p->keys[j], p->keys[k], DPI_SILO_KEY) == 0)
                return dpi_fail(err, DP_EINVAL,
                                "owners %s and %s have the same name or key; each owner has its "
                                "own",
                                p->names[j], p->names[k]);
    }
    return DP_OK;
}

/* That somebody's noise is unknown, and that sums without the dropouts are of so many owners that
 * two of them share an honest one (round.c). */
static dp_status check_shares(const dp_silo_opts *o, dp_error *err)
{
    size_t m = o->n_owners, t = o->colluders, d = o->dropouts;
    if (t >= m || d >= m || t + d >= m)
        return dpi_fail(err, DP_EPRIVACY,
                        "%zu owners, of which %zu may join to look and %zu may drop out, leave no "
                        "share of noise that nobody else knows; plan with more owners, or fewer of "
                        "these",
                        m, t, d);
    if (d > 0 && m - d < (m + t) / 2 + 1)
        return dpi_fail(err, DP_EPRIVACY,
                        "without %zu of %zu owners a sum would be of %zu, and it must be of %zu "
                        "where %zu may join to look; plan with more owners, or fewer of these",
                        d, m, m - d, (m + t) / 2 + 1, t);
    return DP_OK;
}

/* That somebody may drop out where owners can. */
static dp_status check_dropouts(const dp_silo_opts *o, dp_error *err)
{
    const dpi_silo_scheme *scheme = scheme_of(o);
    return o->dropouts == 0 || (dpi_silo_scheme_says(scheme, "send?") && !scheme->averages)
               ? DP_OK
               : dpi_fail(err, DP_EINVAL,
                          "scheme %s waits for all owners in each round, and none may drop out; "
                          "plan without dropouts, or take scheme secagg+dp",
                          scheme->name);
}

/* Whether a text has 1 to `most` bytes and no control characters; of `lines`, line ends alone, and
 * one at its end. */
static bool is_text(const char *text, size_t most, bool lines)
{
    size_t n = text != NULL ? strnlen(text, most + 1) : 0;
    for (size_t i = 0; i < n && n <= most; i++)
        if (dpi_is_control(text + i, n - i) && !(lines && text[i] == '\n'))
            return false;
    return n > 0 && n <= most && (!lines || text[n - 1] == '\n');
}

bool dpi_silo_is_text(const char *text, size_t most)
{
    return is_text(text, most, false);
}

static dp_status check_source(const dp_fit_source *s, dp_error *err)
{
    if (!is_text(s->formula, MOST_TEXT, false) || !is_text(s->family, MOST_TEXT, false) ||
        (s->priors != NULL && !is_text(s->priors, MOST_TEXT, false)))
        return dpi_fail(err, DP_EINVAL,
                        "formula, family and priors of a plan are texts of one line and at most "
                        "64 KiB");
    return is_text(s->schema, MOST_SCHEMA, true)
               ? DP_OK
               : dpi_fail(err, DP_EINVAL,
                          "the schema of a plan is a text of lines that each end, of at most "
                          "1 MiB; give that of dp_schema_text");
}

static dp_status compare_cost(const dp_silo_opts *o, double spent, dp_error *err)
{
    return spent <= o->epsilon * (1 + digits)
               ? DP_OK
               : dpi_fail(err, DP_EPRIVACY,
                          "the openings of this plan cost epsilon %.6g, and it says %.6g", spent,
                          o->epsilon);
}

/* That what is opened costs no more than what is said to be spent, where there is noise at all. */
static dp_status check_cost(const dp_silo_plan *p, dp_error *err)
{
    const dp_silo_opts *o = &p->opts;
    dp_mechanism list[DP_OPENINGS];
    dp_interval spent;
    if (!scheme_of(o)->noisy)
        return o->epsilon == 0 && o->delta == 0
                   ? DP_OK
                   : dpi_fail(err, DP_EINVAL,
                              "scheme %s has no noise, and so no epsilon and no delta; leave them "
                              "out, or choose one that has",
                              o->scheme);
    if (!(o->epsilon > 0) || !(o->delta > 0 && o->delta < 1))
        return dpi_fail(err, DP_EDOMAIN, "epsilon %.6g and delta %.6g are no budget", o->epsilon,
                        o->delta);
    if (!dpi_silo_plan_of_model(p)) {
        dp_status status = dp_silo_plan_spent(p, 1, &spent.upper, err);
        return status == DP_OK ? compare_cost(o, spent.upper, err) : status;
    }
    const bool factors = scheme_of(o)->averages;
    size_t n = 0;
    for (size_t k = 0; k < p->n_openings; k++) {
        const dp_opening *a = &p->openings[k];
        if (a->alone != factors && (a->alone || a->sigma > 0))
            return dpi_fail(err, DP_EPRIVACY,
                            "%s: scheme %s has no such releases; plan anew with this version",
                            a->phase, o->scheme);
        if (!factors || a->alone)
            list[n++] = (dp_mechanism){
                .sampling = DP_SAMPLING_FULL, .rate = 1, .steps = a->times, .sigma = a->sigma};
    }
    if (n == 0)
        return dpi_fail(err, DP_EPRIVACY, "the plan has no release with noise; plan anew");
    dp_status status = dp_account_epsilon(list, n, p->opts.delta, 0, &spent, err);
    return status == DP_OK ? compare_cost(o, spent.upper, err) : status;
}

/* That owners take steps by themselves where the scheme says so, and how many. */
static dp_status check_steps(const dp_silo_opts *o, const dpi_silo_scheme *scheme, dp_error *err)
{
    if (!scheme->averages)
        return o->local_steps == 0
                   ? DP_OK
                   : dpi_fail(err, DP_EINVAL,
                              "scheme %s opens a sum in each step; leave local steps out, or "
                              "choose dp-pvi, or fedavg or fedavg+he, which have no privacy",
                              scheme->name);
    if (o->local_steps < 1 || o->local_steps > DP_OWNERS_LOCAL_STEPS)
        return dpi_fail(err, DP_EDOMAIN,
                        "scheme %s opens what local steps of each owner come to; say how many, "
                        "1 to %d",
                        scheme->name, DP_OWNERS_LOCAL_STEPS);
    if (o->rounds != 0 || o->draws != 0)
        return dpi_fail(err, DP_EINVAL,
                        "scheme %s fits by steps, which have neither rounds nor draws; leave these "
                        "out",
                        scheme->name);
    return DP_OK;
}

/* Whether a plan is of what the scheme is of. */
static bool fits(const dp_silo_opts *o, const dpi_silo_scheme *scheme)
{
    return scheme->by_columns == (o->columns != NULL) && scheme->shared == (o->trio != NULL);
}

dp_status dpi_silo_plan_check(dp_silo_plan *p, dp_error *err)
{
    dp_silo_opts *o = &p->opts;
    const dpi_silo_scheme *scheme = scheme_of(o);
    if (!is_name(o->name))
        return dpi_fail(err, DP_EINVAL,
                        "a plan needs a name of 1 to %d small letters, digits, _ and -, a letter "
                        "first",
                        MOST_NAME);
    if (scheme == NULL)
        return dpi_fail(err, DP_ENAME, "there is no scheme %.40s; tacit silo schemes lists them",
                        o->scheme != NULL ? o->scheme : "(none)");
    if (!fits(o, scheme))
        return dpi_fail(err, DP_EINVAL,
                        "scheme %s is of %s, and the plan is not; columns of the same people are "
                        "planned with the schemes of columns, and three parties with trio and "
                        "trio+dp, and with no other",
                        scheme->name,
                        scheme->shared       ? "three parties"
                        : scheme->by_columns ? "columns"
                                             : "rows");
    dp_status status = check_owners(p, err);
    if (status == DP_OK)
        status = check_dropouts(o, err);
    if (status == DP_OK)
        status = check_shares(o, err);
    if (status == DP_OK)
        status = check_steps(o, scheme, err);
    if (status == DP_OK && o->source != NULL)
        status = check_source(o->source, err);
    if (status == DP_OK && o->columns != NULL)
        status = dpi_silo_columns_check(p, err);
    if (status == DP_OK && o->trio != NULL)
        status = dpi_silo_three_check(p, err);
    if (status == DP_OK && (o->most_records < 1 || o->most_records > (uint64_t)1 << 26))
        status = dpi_fail(err, DP_EDOMAIN, "one owner has 1 to 2^26 records at most");
    return status == DP_OK ? check_cost(p, err) : status;
}

/* ---- text ---- */

static void say_options(dp_silo_plan *p)
{
    dpi_bytes *b = &p->body;
    const dp_silo_opts *o = &p->opts;
    char model[2 * DP_MODEL_HASH + 1];
    dpi_silo_say(b, "tacit silo plan 1\nplan = %s\nscheme = %s\nmodel = %s\n", o->name, o->scheme,
                 sodium_bin2hex(model, sizeof model, p->model, sizeof p->model));
    if (o->source != NULL) {
        say_text(b, "formula", o->source->formula);
        say_text(b, "family", o->source->family);
        if (o->source->priors != NULL)
            say_text(b, "priors", o->source->priors);
    }
    if (o->columns != NULL)
        dpi_silo_columns_say(p, b);
    if (o->trio != NULL)
        dpi_silo_three_say(p, b);
    dpi_silo_say(b, "epsilon = %.17g\ndelta = %.17g\nrounds = %llu\ndraws = %zu\n", o->epsilon,
                 o->delta, (unsigned long long)o->rounds, o->draws);
    if (o->local_steps > 0)
        dpi_silo_say(b, "local-steps = %llu\n", (unsigned long long)o->local_steps);
    dpi_silo_say(b, "colluders = %zu\ndropouts = %zu\nrecords = %llu\nseed = %llu\n", o->colluders,
                 o->dropouts, (unsigned long long)o->most_records, (unsigned long long)o->seed);
    for (size_t k = 0; k < o->n_owners; k++)
        dpi_silo_say(b, "owner = %s %s\n", o->owners[k].name, o->owners[k].key);
    for (size_t k = 0; k < p->n_openings; k++)
        dpi_silo_say(b, "%s = %llu %zu %.17g %s\n", p->openings[k].alone ? "own" : "opening",
                     (unsigned long long)p->openings[k].times, p->openings[k].numbers,
                     p->openings[k].sigma, p->openings[k].phase);
    if (o->source != NULL)
        say_block(b, "schema", o->source->schema);
}

dp_status dpi_silo_plan_write(dp_silo_plan *p, dp_error *err)
{
    dpi_bytes program = {NULL, 0, 0, false};
    dp_status status = dpi_silo_describe(p, &program, err);
    dpi_bytes_free(&p->body);
    if (status == DP_OK) {
        dpi_bytes_add(&program, "", 1);
        say_options(p);
        if (!program.failed)
            say_block(&p->body, "program", (const char *)program.at);
        size_t n = p->body.n;
        dpi_bytes_add(&p->body, "", 1);
        if (program.failed || p->body.failed)
            status = dpi_fail_nomem(err);
        else
            (void)crypto_generichash(p->hash, sizeof p->hash, p->body.at, n, NULL, 0);
    }
    dpi_bytes_free(&program);
    return status;
}

dp_status dpi_silo_plan_finish(dp_silo_plan *p, dp_error *err)
{
    char hex[2 * DPI_SILO_SIGNATURE + 1];
    dpi_bytes_free(&p->text);
    dpi_bytes_add(&p->text, p->body.at, p->body.n - 1);
    for (size_t k = 0; k < p->opts.n_owners; k++)
        if (p->is_signed[k])
            dpi_silo_say(&p->text, "signed = %s %s\n", p->names[k],
                         sodium_bin2hex(hex, sizeof hex, p->signature[k], DPI_SILO_SIGNATURE));
    dpi_bytes_add(&p->text, "", 1);
    return p->text.failed ? dpi_fail_nomem(err) : DP_OK;
}

/* ---- making one ---- */

static const char *copy(dpi_arena *a, const char *text, bool *ok)
{
    const char *mine = text != NULL ? dpi_arena_strdup(a, text) : NULL;
    *ok = *ok && (text == NULL || mine != NULL);
    return mine;
}

static dp_status copy_opts(dp_silo_plan *p, const dp_silo_opts *from, dp_error *err)
{
    bool ok = true;
    dp_silo_opts *o = &p->opts;
    *o = *from;
    o->model = NULL;
    o->name = copy(&p->arena, from->name, &ok);
    o->scheme = copy(&p->arena, from->scheme, &ok);
    o->owners = p->owners;
    if (from->n_owners > DP_OWNERS_MOST)
        return dpi_fail(err, DP_EINVAL, "a plan has at most %d owners", DP_OWNERS_MOST);
    for (size_t k = 0; k < from->n_owners; k++)
        p->owners[k] = (dp_silo_owner){.name = copy(&p->arena, from->owners[k].name, &ok),
                                       .key = copy(&p->arena, from->owners[k].key, &ok)};
    if (from->source != NULL) {
        p->source = (dp_fit_source){.formula = copy(&p->arena, from->source->formula, &ok),
                                    .family = copy(&p->arena, from->source->family, &ok),
                                    .schema = copy(&p->arena, from->source->schema, &ok),
                                    .priors = copy(&p->arena, from->source->priors, &ok)};
        o->source = &p->source;
    }
    if (from->columns != NULL) {
        p->columns = *from->columns;
        p->columns.ids = copy(&p->arena, from->columns->ids, &ok);
        p->columns.cut = copy(&p->arena, from->columns->cut, &ok);
        for (int k = 0; k < 2; k++)
            p->columns.held[k] = copy(&p->arena, from->columns->held[k], &ok);
        o->columns = &p->columns;
    }
    if (from->trio != NULL) {
        p->trio = *from->trio;
        p->trio.ids = copy(&p->arena, from->trio->ids, &ok);
        for (int k = 0; k < DP_SILO_TRIO; k++)
            o->trio_held[k] = copy(&p->arena, from->trio_held[k], &ok);
        o->trio = &p->trio;
        if (o->most_records == 0)
            o->most_records = p->trio.rows;
    }
    if (o->most_records == 0)
        o->most_records = usual_records;
    if (o->colluders == 0 && !o->trusting && o->n_owners > 1)
        o->colluders = 1;
    o->trusting = o->colluders == 0;
    while (o->seed == 0)
        randombytes_buf(&o->seed, sizeof o->seed);
    return ok ? DP_OK : dpi_fail_nomem(err);
}

/* What is released, by the model that is there. */
static dp_status find_openings(dp_silo_plan *p, const dp_model *model, dp_error *err)
{
    const dp_silo_opts *o = &p->opts;
    if (o->columns != NULL)
        return dpi_silo_columns_openings(p, model, err);
    if (o->trio != NULL)
        return dpi_silo_three_openings(p, err);
    dp_status status = check_steps(o, scheme_of(o), err);
    if (status != DP_OK)
        return status;
    dp_model_hash(model, p->model);
    return dpi_silo_plan_openings(o, model, &p->n_openings, p->openings, err);
}

dp_status dp_silo_plan_new(const dp_silo_opts *opts, dp_silo_plan **plan, dp_error *err)
{
    dp_silo_plan *p = dpi_alloc(1, sizeof *p);
    *plan = NULL;
    if (opts->model == NULL && opts->columns == NULL && opts->trio == NULL)
        dpi_misuse(__func__, "no model");
    if (p == NULL)
        return dpi_fail_nomem(err);
    dp_status status = sodium_init() >= 0
                           ? copy_opts(p, opts, err)
                           : dpi_fail(err, DP_EENTROPY, "libsodium cannot be started");
    if (status == DP_OK && scheme_of(&p->opts) != NULL && fits(&p->opts, scheme_of(&p->opts)))
        status = find_openings(p, opts->model, err);
    if (status == DP_OK)
        status = dpi_silo_plan_check(p, err);
    if (status == DP_OK)
        status = dpi_silo_plan_write(p, err);
    if (status == DP_OK)
        status = dpi_silo_plan_finish(p, err);
    if (status == DP_OK)
        *plan = p;
    else
        dp_silo_plan_free(p);
    return status;
}

void dp_silo_plan_free(dp_silo_plan *p)
{
    if (p == NULL)
        return;
    dpi_bytes_free(&p->body);
    dpi_bytes_free(&p->text);
    dpi_arena_free(&p->arena);
    dpi_free(p);
}

const char *dp_silo_plan_text(const dp_silo_plan *p)
{
    return (const char *)p->text.at;
}

const dp_silo_opts *dp_silo_plan_opts(const dp_silo_plan *p)
{
    return &p->opts;
}

void dp_silo_plan_hash(const dp_silo_plan *p, unsigned char hash[DP_SILO_HASH])
{
    memcpy(hash, p->hash, DP_SILO_HASH);
}
