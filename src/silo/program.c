/* Building a program, one value a call. */
#include "silo/program.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

void dpi_silo_program_begin(dpi_silo_program *p, const dpi_silo_parties *who)
{
    memset(p, 0, sizeof *p);
    p->who = *who;
    if (who->n < 1 || who->n > DPI_SILO_PARTIES)
        (void)dpi_fail(&p->error, DP_EINVAL, "a program is of 1 to %d parties, and this has %u",
                       DPI_SILO_PARTIES, who->n);
    else if (who->aggregator >= who->n)
        (void)dpi_fail(&p->error, DP_EINVAL, "who adds up must be a party");
    else if (who->dropouts >= who->n || who->colluders >= who->n - who->dropouts)
        (void)dpi_fail(&p->error, DP_EPRIVACY,
                       "of %u parties %zu may put together what they know, and %zu may drop out: "
                       "no share of the noise is left that all of them do not know",
                       who->n, who->colluders, who->dropouts);
    else if (who->dropouts > 0 && who->colluders == 0)
        (void)dpi_fail(&p->error, DP_EPRIVACY,
                       "where parties may drop out, the one that adds up is reckoned among those "
                       "who look: plan for one at least who does");
}

uint64_t dpi_silo_everyone(const dpi_silo_parties *who)
{
    return who->n < 64 ? ((uint64_t)1 << who->n) - 1 : UINT64_MAX;
}

uint64_t dpi_silo_owners(const dpi_silo_parties *who)
{
    return dpi_silo_everyone(who) & ~who->helpers;
}

const char *dpi_silo_place_text(const dpi_silo_parties *who, dpi_silo_place place)
{
    static const char *const text[DPI_SILO_N_WHERE] = {
        [DPI_SILO_SAME] = "*",   [DPI_SILO_BY_ROWS] = "0", [DPI_SILO_BY_COLUMNS] = "1",
        [DPI_SILO_SUMMED] = "+", [DPI_SILO_OWN] = "(own)", [DPI_SILO_SHARED] = "~",
    };
    return place.where == DPI_SILO_AT ? who->names[place.party] : text[place.where];
}

uint16_t dpi_silo_find(const dpi_silo_program *p, const char *name, size_t n)
{
    for (size_t k = 0; k < p->n_variables; k++)
        if (strlen(p->variables[k].name) == n && memcmp(p->variables[k].name, name, n) == 0)
            return (uint16_t)k;
    return DPI_SILO_NONE;
}

static bool is_name(const char *name)
{
    size_t n = strlen(name);
    return n >= 1 && n <= DPI_SILO_MOST_NAME &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'") == n &&
           (name[0] < '0' || name[0] > '9') && name[0] != '\'';
}

/* Room for one more, or NULL after an error. */
static dpi_silo_variable *add(dpi_silo_program *p, const char *name)
{
    if (p->error.status != DP_OK)
        return NULL;
    if (p->n_variables == DPI_SILO_VARIABLES) {
        (void)dpi_fail(&p->error, DP_EINVAL, "a program has at most %d values", DPI_SILO_VARIABLES);
        return NULL;
    }
    if (!is_name(name) || dpi_silo_find(p, name, strlen(name)) != DPI_SILO_NONE) {
        (void)dpi_fail(&p->error, DP_ENAME,
                       "a value cannot be called \"%.20s\": names are 1 to %d letters, digits and "
                       "', a letter first, and each is there once",
                       name, DPI_SILO_MOST_NAME);
        return NULL;
    }
    dpi_silo_variable *v = &p->variables[p->n_variables];
    memset(v, 0, sizeof *v);
    (void)snprintf(v->name, sizeof v->name, "%s", name);
    return v;
}

static bool is_type(const dpi_silo_program *p, const dpi_silo_type *t)
{
    return t->n_dims <= DPI_SILO_DIMS && t->place.where < DPI_SILO_N_WHERE &&
           (t->place.where != DPI_SILO_BY_ROWS || t->n_dims > 0) &&
           (t->place.where != DPI_SILO_AT || t->place.party < p->who.n);
}

uint16_t dpi_silo_input(dpi_silo_program *p, const char *name, dpi_silo_type type, bool of_records)
{
    dpi_silo_variable *v = add(p, name);
    if (v == NULL)
        return DPI_SILO_NONE;
    if (!is_type(p, &type)) {
        (void)dpi_fail(&p->error, DP_ESHAPE,
                       "input %s has no place that its type can have: what is split over records "
                       "(0) has an axis of them, and a party must be one of the program's",
                       name);
        return DPI_SILO_NONE;
    }
    v->op = DPI_SILO_OP_INPUT;
    v->type = type;
    v->of_records = of_records;
    return (uint16_t)p->n_variables++;
}

uint16_t dpi_silo_call(dpi_silo_program *p, const char *name, dpi_silo_op op, uint16_t a,
                       uint16_t b)
{
    const uint16_t arg[DPI_SILO_ARGS] = {a, b, 0};
    dpi_silo_variable *v = add(p, name);
    if (v == NULL)
        return DPI_SILO_NONE;
    if (op <= DPI_SILO_OP_INPUT || op >= DPI_SILO_N_OPS) {
        (void)dpi_fail(&p->error, DP_EINVAL, "%s: there is no such operation", name);
        return DPI_SILO_NONE;
    }
    v->op = op;
    for (size_t k = 0; k < dpi_silo_ops[op].args; k++) {
        if (arg[k] >= p->n_variables) {
            (void)dpi_fail(&p->error, DP_ENAME, "%s = %s: argument %zu is no value before it", name,
                           dpi_silo_ops[op].name, k + 1);
            return DPI_SILO_NONE;
        }
        v->arg[k] = arg[k];
    }
    return dpi_silo_infer(p, v) ? (uint16_t)p->n_variables++ : DPI_SILO_NONE;
}

static bool same_type(const dpi_silo_type *a, const dpi_silo_type *b)
{
    bool same = a->dtype == b->dtype && a->n_dims == b->n_dims &&
                a->place.where == b->place.where && a->place.party == b->place.party;
    for (size_t d = 0; same && d < a->n_dims; d++)
        same = a->dims[d] == b->dims[d];
    return same;
}

void dpi_silo_carried(dpi_silo_program *p, uint16_t input, uint16_t variable)
{
    if (p->error.status != DP_OK)
        return;
    if (input >= p->n_variables || variable >= p->n_variables ||
        p->variables[input].op != DPI_SILO_OP_INPUT || p->n_carried == DPI_SILO_CARRIED)
        (void)dpi_fail(&p->error, DP_EINVAL, "an input, at most %d of them, is carried",
                       DPI_SILO_CARRIED);
    else if (!same_type(&p->variables[input].type, &p->variables[variable].type))
        (void)dpi_fail(&p->error, DP_ESHAPE,
                       "%s is to be %s in the next step, and has another type or place",
                       p->variables[variable].name, p->variables[input].name);
    else
        p->carried[p->n_carried++] = (dpi_silo_carry){input, variable};
}

void dpi_silo_account(dpi_silo_program *p, const dpi_silo_entry *entry)
{
    if (p->error.status != DP_OK)
        return;
    if (p->n_entries == DPI_SILO_ENTRIES || entry->variable >= p->n_variables)
        (void)dpi_fail(&p->error, DP_EINVAL, "an account has at most %d entries, each of a value",
                       DPI_SILO_ENTRIES);
    else if (!(entry->sigma >= 0) || entry->times < 1)
        (void)dpi_fail(&p->error, DP_EDOMAIN,
                       "openings of %s need noise of 0 or more, and are one at least",
                       p->variables[entry->variable].name);
    else
        p->entries[p->n_entries++] = *entry;
}

dp_status dpi_silo_program_end(const dpi_silo_program *p, dp_error *err)
{
    return p->error.status == DP_OK ? DP_OK : dpi_fail(err, p->error.status, "%s", p->error.text);
}

dp_status dpi_silo_check_ranges(const dpi_silo_program *p, dp_error *err)
{
    const dpi_silo_parties *who = &p->who;
    const double shares = (double)(who->n - who->dropouts - who->colluders);
    for (size_t j = 0; j < p->n_entries; j++) {
        const dpi_silo_entry *e = &p->entries[j];
        if (e->shared) /* a grid is made for them: trio-grid.c */
            continue;
        const double steps = e->sigma > 0 ? 0x1p32 * sqrt(shares) / e->sigma : 0x1p36;
        if (!(who->n * ((double)who->most_records * steps + 0x1p36) < 0x1p62))
            return dpi_fail(err, DP_EUNSUPPORTED,
                            "%s: sums of %u owners with up to %llu records each, and noise of %g, "
                            "need more than 64 bits; plan for fewer records, or a smaller epsilon",
                            p->variables[e->variable].name, who->n,
                            (unsigned long long)who->most_records, e->sigma);
    }
    return DP_OK;
}
