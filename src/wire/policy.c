/* Reading the policy: one table of keys, each with its reader.  What the keys say together is
 * checked at the end. */
#define _XOPEN_SOURCE 700
#include "wire/policy.h"

#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "wire/lines.h"

#define ROW(name, text) text,
static const char *const protocols[] = {DPI_PROTOCOL_LIST(ROW) NULL};
static const char *const modes[] = {DPI_MODE_LIST(ROW) NULL};
static const char *const returns[] = {DPI_RETURN_LIST(ROW) NULL};
#undef ROW

typedef struct policy_reading {
    dpi_lines lines;
    dpi_policy policy;
    bool leak; /* allowed */
    unsigned seen;
    dp_error *err;
} policy_reading;

const char *dpi_protocol_name(dpi_protocol protocol)
{
    return (unsigned)protocol < DPI_N_PROTOCOLS ? protocols[protocol] : "?";
}

const char *dpi_mode_name(dpi_mode mode)
{
    return (unsigned)mode < DPI_N_MODES ? modes[mode] : "?";
}

/* ---- values ---- */

static dp_status wrong(const policy_reading *r, const char *what, const char *shown)
{
    return dpi_lines_fail(&r->lines, r->err, what, shown);
}

static dp_status read_count(const policy_reading *r, const char *value, uint64_t *count)
{
    uint64_t n = 0;
    const char *c = value;
    for (; *c >= '0' && *c <= '9' && n <= DPI_MOST_COUNT; c++)
        n = 10 * n + (uint64_t)(*c - '0');
    if (*c != 0 || n == 0 || n > DPI_MOST_COUNT)
        return wrong(r, "this must be a whole number from 1 to 3155760000", value);
    *count = n;
    return DP_OK;
}

/* A number as programs write it, whatever the locale. */
static dp_status read_positive(const policy_reading *r, const char *value, double *number)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return dpi_fail_nomem(r->err);
    locale_t before = uselocale(plain);
    char *end;
    double x = strtod(value, &end);
    (void)uselocale(before);
    freelocale(plain);
    bool plainly = strspn(value, "0123456789.eE+-") == strlen(value);
    if (!plainly || *end != 0 || !isfinite(x) || !(x > 0))
        return wrong(r, "this must be a number above 0, as 0.5", value);
    *number = x;
    return DP_OK;
}

static size_t find_word(const char *word, const char *const *words)
{
    size_t i = 0;
    while (words[i] != NULL && strcmp(words[i], word) != 0)
        i++;
    return i;
}

static dp_status read_set(const policy_reading *r, char *value, const char *const *words,
                          const char *what, unsigned *set)
{
    while (*value != 0) {
        const char *word = dpi_lines_word(&value);
        size_t i = find_word(word, words);
        if (words[i] == NULL)
            return wrong(r, what, word);
        if ((*set & 1u << i) != 0)
            return wrong(r, "this stands here twice", word);
        *set |= 1u << i;
    }
    return DP_OK;
}

/* ---- keys ---- */

static dp_status read_client(policy_reading *r, char *value)
{
    dpi_peers *c = &r->policy.clients;
    if (c->n == DPI_MOST_PEERS)
        return wrong(r, "there are more than 4096 clients", NULL);
    dpi_peer one = {{0}, ""};
    const char *fault = dpi_peer_read(value, c->list, c->n, &one);
    return fault != NULL ? wrong(r, fault, NULL) : dpi_peers_add(c, &one, r->err);
}

static dp_status read_queries(policy_reading *r, char *value)
{
    return read_count(r, value, &r->policy.queries);
}

static dp_status read_window(policy_reading *r, char *value)
{
    return read_count(r, value, &r->policy.window);
}

static dp_status read_top(policy_reading *r, char *value)
{
    return read_count(r, value, &r->policy.top);
}

static dp_status read_epsilon(policy_reading *r, char *value)
{
    return read_positive(r, value, &r->policy.epsilon);
}

static dp_status read_sensitivity(policy_reading *r, char *value)
{
    return read_positive(r, value, &r->policy.sensitivity);
}

static dp_status read_returns(policy_reading *r, char *value)
{
    size_t i = find_word(value, returns);
    if (returns[i] == NULL)
        return wrong(r, "what is told is one of label, top, scores and noisy-scores", value);
    r->policy.returns = (dpi_return)i;
    return DP_OK;
}

static dp_status read_protocols(policy_reading *r, char *value)
{
    return read_set(r, value, protocols, "a protocol is he2-paillier, he2-lattice, hm3, hm4 or ckks",
                    &r->policy.protocols);
}

static dp_status read_modes(policy_reading *r, char *value)
{
    return read_set(r, value, modes, "a mode is linear, permute or shared", &r->policy.modes);
}

static dp_status read_leak(policy_reading *r, char *value)
{
    if (strcmp(value, "yes") != 0)
        return wrong(r, "this is allowed by yes, or else the line is left out", value);
    r->leak = true;
    return DP_OK;
}

enum {
    CLIENT,
    QUERIES,
    WINDOW,
    RETURNS,
    TOP,
    EPSILON,
    SENSITIVITY,
    PROTOCOLS,
    MODES,
    LEAK,
    N_KEYS
};

static const struct {
    const char *name;
    dp_status (*read)(policy_reading *r, char *value);
    bool needed;
} keys[N_KEYS] = {
    [CLIENT] = {"client", read_client, true},
    [QUERIES] = {"queries", read_queries, true},
    [WINDOW] = {"window", read_window, true},
    [RETURNS] = {"returns", read_returns, true},
    [TOP] = {"top", read_top, false},
    [EPSILON] = {"epsilon", read_epsilon, false},
    [SENSITIVITY] = {"sensitivity", read_sensitivity, false},
    [PROTOCOLS] = {"protocols", read_protocols, true},
    [MODES] = {"modes", read_modes, true},
    [LEAK] = {"allow-activation-leak", read_leak, false},
};

/* Cuts "key = value" apart; NULL when it is not that. */
static char *split(char *line)
{
    char *equals = strchr(line, '=');
    if (equals == NULL)
        return NULL;
    char *end = equals, *value = equals + 1;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = 0;
    while (*value == ' ' || *value == '\t')
        value++;
    return value;
}

static dp_status read_line(policy_reading *r)
{
    char *key = r->lines.line, *value = split(key);
    if (value == NULL)
        return wrong(r, "this is not `key = value`", key);
    for (unsigned i = 0; i < N_KEYS; i++) {
        if (strcmp(keys[i].name, key) != 0)
            continue;
        if (*value == 0)
            return wrong(r, "there is no value behind the key", key);
        if ((r->seen & 1u << i) != 0 && i != CLIENT)
            return wrong(r, "this key stands twice", key);
        r->seen |= 1u << i;
        return keys[i].read(r, value);
    }
    return wrong(r,
                 "there is no such key; keys are client, queries, window, returns, top, epsilon, "
                 "sensitivity, protocols, modes and allow-activation-leak",
                 key);
}

/* ---- together ---- */

/* What the keys say together, as a sentence when it cannot be. */
static const char *contradiction(const policy_reading *r)
{
    const dpi_policy *p = &r->policy;
    bool top = (r->seen & 1u << TOP) != 0, epsilon = (r->seen & 1u << EPSILON) != 0;
    bool sensitivity = (r->seen & 1u << SENSITIVITY) != 0;
    bool permute = (p->modes & 1u << DPI_MODE_PERMUTE) != 0;
    if (top != (p->returns == DPI_RETURN_TOP))
        return "returns = top and top = K belong together";
    if (epsilon != sensitivity || epsilon != (p->returns == DPI_RETURN_NOISY_SCORES))
        return "returns = noisy-scores, epsilon and sensitivity belong together; neither number "
               "has "
               "a default";
    if (permute && !r->leak)
        return "in mode permute clients can learn the weights of the model; if it may be, say "
               "allow-activation-leak = yes";
    if (!permute && r->leak)
        return "allow-activation-leak = yes is for mode permute, which is not allowed here; leave "
               "the line out";
    return NULL;
}

static dp_status check_all(const policy_reading *r)
{
    for (unsigned i = 0; i < N_KEYS; i++)
        if (keys[i].needed && (r->seen & 1u << i) == 0)
            return dpi_fail(r->err, DP_EDATA,
                            "%.150s: there is no line '%s = ...', and nothing is allowed that it "
                            "does not say",
                            r->lines.file, keys[i].name);
    const char *why = contradiction(r);
    return why == NULL ? DP_OK : dpi_fail(r->err, DP_EDATA, "%.150s: %s", r->lines.file, why);
}

dp_status dpi_policy_parse(const char *text, size_t n, const char *file, dpi_policy *policy,
                           dp_error *err)
{
    *policy = (dpi_policy){0};
    policy_reading *r = dpi_alloc(1, sizeof *r);
    if (r == NULL)
        return dpi_fail_nomem(err);
    r->lines = (dpi_lines){.at = text, .n = n, .file = file};
    r->err = err;
    dp_status status = DP_OK;
    for (bool there = true; status == DP_OK && there;) {
        status = dpi_lines_next(&r->lines, &there, err);
        if (status == DP_OK && there)
            status = read_line(r);
    }
    if (status == DP_OK)
        status = check_all(r);
    if (status == DP_OK)
        *policy = r->policy;
    else
        dpi_peers_free(&r->policy.clients);
    dpi_free(r);
    return status;
}

dp_status dpi_policy_load(const char *path, dpi_policy *policy, dp_error *err)
{
    *policy = (dpi_policy){0};
    char *text;
    size_t n;
    dp_status status = dpi_lines_file(path, &text, &n, err);
    if (status == DP_OK)
        status = dpi_policy_parse(text, n, path, policy, err);
    dpi_free(text);
    return status;
}

void dpi_policy_free(dpi_policy *policy)
{
    dpi_peers_free(&policy->clients);
    *policy = (dpi_policy){0};
}

dpi_refusal dpi_policy_check(const dpi_policy *policy,
                             const unsigned char fingerprint[DPI_FINGERPRINT],
                             dpi_protocol protocol, dpi_mode mode)
{
    if (dpi_peers_find(&policy->clients, fingerprint) == policy->clients.n)
        return DPI_REFUSED_CLIENT;
    bool allowed = (unsigned)protocol < DPI_N_PROTOCOLS && (unsigned)mode < DPI_N_MODES &&
                   (policy->protocols & 1u << protocol) != 0 && (policy->modes & 1u << mode) != 0;
    return allowed ? DPI_REFUSED_NOTHING : DPI_REFUSED_MODE;
}
