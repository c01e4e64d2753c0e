/* Text of programs. */
#include "silo/print.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include <tacit/accountant.h>

#include "base/error.h"
#include "base/plain.h"
#include "silo/execute.h"

void dpi_silo_say(dpi_bytes *b, const char *format, ...)
{
    char small[512];
    va_list list;
    va_start(list, format);
    int n = dpi_plain_print(small, sizeof small, format, list);
    va_end(list);
    if (n < 0 || (size_t)n >= sizeof small)
        b->failed = true; /* longer texts are added as they are */
    else
        dpi_bytes_add(b, small, (size_t)n);
}

/* ---- the joint program ---- */

static void print_type(const dpi_silo_program *p, const dpi_silo_type *t, dpi_bytes *to)
{
    static const char *const names[] = {"f64", "i64", "state"};
    dpi_silo_say(to, "%s", names[t->dtype]);
    for (size_t d = 0; d < t->n_dims; d++) {
        dpi_silo_say(to, d == 0 ? "[" : ",");
        if (t->dims[d] == DPI_SILO_UNTOLD)
            dpi_silo_say(to, "?");
        else if (t->dims[d] == DPI_SILO_OPENED)
            dpi_silo_say(to, "n");
        else
            dpi_silo_say(to, "%llu", (unsigned long long)t->dims[d]);
    }
    dpi_silo_say(to, "%s@%s", t->n_dims > 0 ? "]" : "", dpi_silo_place_text(&p->who, t->place));
}

static void print_program(const dpi_silo_program *p, dpi_bytes *to)
{
    dpi_silo_say(to, p->n_carried > 0 ? "every step\n" : "once\n");
    for (size_t k = 0; k < p->n_variables; k++) {
        const dpi_silo_variable *v = &p->variables[k];
        dpi_silo_say(to, "  %s : ", v->name);
        print_type(p, &v->type, to);
        if (v->op == DPI_SILO_OP_INPUT)
            dpi_silo_say(to, "%s", v->of_records ? ", of records" : "");
        else
            dpi_silo_say(to, " = %s%s", v->marked ? "s_" : "", dpi_silo_ops[v->op].name);
        for (size_t a = 0; a < dpi_silo_ops[v->op].args; a++)
            dpi_silo_say(to, " %s", p->variables[v->arg[a]].name);
        dpi_silo_say(to, "\n");
    }
    for (size_t k = 0; k < p->n_carried; k++)
        dpi_silo_say(to, "  then %s is %s\n", p->variables[p->carried[k].input].name,
                     p->variables[p->carried[k].variable].name);
}

/* ---- parts ---- */

static void print_step(const dpi_silo_program *p, const dpi_silo_part *part, const dpi_silo_step *s,
                       dpi_bytes *to)
{
    const char *name = part->registers[s->out].name;
    dpi_silo_say(to, s->once ? "  once: " : "  ");
    if (s->kind == DPI_SILO_SEND)
        dpi_silo_say(to, "send %s to %s\n", name, p->who.names[s->peer]);
    else if (s->kind == DPI_SILO_RECV)
        dpi_silo_say(to, "%s from %s%s\n", name, p->who.names[s->peer],
                     s->may_lack ? ", or nothing" : "");
    else {
        dpi_silo_say(to, "%s = %s", name, dpi_silo_step_name(s->kind));
        for (int a = 0; a < dpi_silo_step_args(s->kind); a++)
            dpi_silo_say(to, " %s", part->registers[s->in[a]].name);
        dpi_silo_say(to, "\n");
    }
}

static void print_owners(const dpi_silo_program *p, uint64_t owners, dpi_bytes *to)
{
    const char *between = "";
    for (size_t k = 0; k < p->who.n; k++)
        if ((owners >> k & 1) != 0) {
            dpi_silo_say(to, "%s%s", between, p->who.names[k]);
            between = ", ";
        }
}

static void print_views(const dpi_silo_program *p, size_t n, const dpi_silo_view *views,
                        dpi_bytes *to)
{
    dpi_silo_say(to, "seen of others\n");
    for (size_t k = 0; k < n; k++) {
        const dpi_silo_view *v = &views[k];
        dpi_silo_say(to, "  %s sees %s, of records of ", p->who.names[v->party], v->name);
        print_owners(p, v->owners, to);
        if (v->clause != NULL) {
            dpi_silo_say(to, ": NO NOISE: %s\n", v->clause->why);
            continue;
        }
        if (v->alone) {
            dpi_silo_say(to, ": with noise that each of them has added alone, for its own\n");
            continue;
        }
        dpi_silo_say(to, ": with noise of ");
        if (v->noise == dpi_silo_everyone(&p->who))
            dpi_silo_say(to, "all");
        else
            print_owners(p, v->noise, to);
        dpi_silo_say(to, "\n");
    }
    if (n == 0)
        dpi_silo_say(to, "  nothing\n");
}

/* Shares go over links, in more messages than the program has letters: gates on shares have some of
 * their own, of uniform numbers. */
static void print_links(const dpi_silo_program *p, dpi_bytes *to)
{
    dpi_silo_say(to, "sent over links of each two\n");
    for (size_t k = 0; k < p->who.n; k++)
        dpi_silo_say(to,
                     "  %s sends shares and uniform numbers, whose sizes follow from rows, columns "
                     "and steps\n",
                     p->who.names[k]);
}

static void print_sent(const dpi_silo_program *p, const dpi_silo_part *parts, dpi_bytes *to)
{
    if (dpi_silo_has_shares(parts)) {
        print_links(p, to);
        return;
    }
    dpi_silo_say(to, "sent in all, before sealing\n");
    for (size_t k = 0; k < p->who.n; k++) {
        double bytes = 0, letters = 0;
        bool encrypted = false;
        for (size_t j = 0; j < p->n_entries; j++)
            for (size_t s = 0; s < parts[k].n_steps && !p->entries[j].alone; s++)
                if (parts[k].steps[s].kind == DPI_SILO_SEND) {
                    const dpi_silo_register *r = &parts[k].registers[parts[k].steps[s].out];
                    const double times =
                        parts[k].steps[s].once ? j == 0 : (double)p->entries[j].times;
                    letters += times;
                    bytes += times * (double)dpi_silo_register_size(r, p->entries[j].numbers);
                    encrypted = encrypted || r->encrypted;
                }
        dpi_silo_say(to, "  %s sends %.0f letters", p->who.names[k], letters);
        if (encrypted)
            dpi_silo_say(to, ", whose sizes follow from how many rows and columns there are\n");
        else
            dpi_silo_say(to, " of %.0f bytes together\n", bytes);
    }
}

void dpi_silo_print(const dpi_silo_program *p, const dpi_silo_part *parts, size_t n_views,
                    const dpi_silo_view *views, dpi_bytes *to)
{
    print_program(p, to);
    for (size_t k = 0; k < p->who.n; k++) {
        dpi_silo_say(to, "%s runs\n", p->who.names[k]);
        for (size_t s = 0; s < parts[k].n_steps; s++)
            print_step(p, &parts[k], &parts[k].steps[s], to);
    }
    print_views(p, n_views, views, to);
    print_sent(p, parts, to);
}

/* ---- what is spent ---- */

/* Whether releases are each owner's own: what is opened follows from them, and costs nothing. */
static bool is_alone(const dpi_silo_program *p)
{
    bool any = false;
    for (size_t k = 0; k < p->n_entries; k++)
        any = any || p->entries[k].alone;
    return any;
}

/* Epsilon of what is `apart` of the mechanisms in total variation: whatever that epsilon is, the
 * mechanisms' delta and apart (1 + e^epsilon) are the delta that is spent.  An epsilon at half of
 * it is above the answer, and its e^epsilon serves as a bound; what shares differ from rounded
 * normal numbers by, some 2^-170 of all together, is in a 2^-40 more. */
static dp_status spend_apart(const dp_mechanism *list, size_t n, double delta, double apart,
                             dp_interval *spent, dp_error *err)
{
    dp_status status = dp_account_epsilon(list, n, delta / 2, 0, spent, err);
    const double beside = apart * (1 + exp(spent->upper)) * (1 + 0x1p-40);
    *spent = (dp_interval){.upper = INFINITY};
    if (status == DP_OK && !(beside <= delta / 2))
        return dpi_fail(err, DP_EPRIVACY,
                        "answers differ by up to %.3g from what noise makes of them, which is too "
                        "much at this delta; plan for a larger one, or a smaller epsilon",
                        apart);
    return status == DP_OK ? dp_account_epsilon(list, n, delta - beside, 0, spent, err) : status;
}

dp_status dpi_silo_epsilon(const dpi_silo_program *p, size_t known, double *epsilon, dp_error *err)
{
    const dpi_silo_parties *who = &p->who;
    const double counted = (double)(who->n - who->dropouts - who->colluders);
    dp_mechanism list[DPI_SILO_ENTRIES];
    dp_interval spent;
    size_t n = 0;
    *epsilon = INFINITY;
    if (known >= who->n - who->dropouts || p->n_entries == 0)
        return DP_OK;
    for (size_t k = 0; k < p->n_entries; k++)
        if (p->entries[k].shared && known > 1)
            return DP_OK; /* they have all rows */
    const double left = (double)(who->n - who->dropouts - known);
    double apart = 0;
    for (size_t k = 0; k < p->n_entries; k++) {
        const dpi_silo_entry *e = &p->entries[k];
        const bool whole = e->replaced || e->alone, of_replaced = e->replaced || e->shared;
        if (is_alone(p) && !e->alone && e->sigma == 0)
            continue;
        if (!(e->sigma > 0))
            return DP_OK;
        list[n++] =
            (dp_mechanism){.sampling = DP_SAMPLING_FULL,
                           .rate = 1,
                           .steps = e->times,
                           .sigma = whole ? e->sigma : e->sigma * sqrt(left / counted),
                           .adjacency = of_replaced ? DP_REPLACE_ONE : DP_ADJACENCY_OF_SAMPLING};
        apart += (double)e->times * e->apart;
    }
    dp_status status = apart > 0 ? spend_apart(list, n, p->delta, apart, &spent, err)
                                 : dp_account_epsilon(list, n, p->delta, 0, &spent, err);
    *epsilon = spent.upper;
    return status;
}
