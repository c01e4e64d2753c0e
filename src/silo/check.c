/* The parts are gone through side by side, each as far as what it waits for has been sent.  Twice
 * at least: what is carried to the next step has the labels of the first there. */
#include "silo/check.h"

#include <string.h>

#include "base/error.h"
#include "silo/split.h"

typedef enum form { ABSENT, CLEAR, MASKED, ROSTER, CONSENT, KEYS } form;

/* What steps work on and make, and whether they need what all parties have sent. */
typedef struct step_effect {
    form in[DPI_SILO_ARGS], out;
    bool of_all[DPI_SILO_ARGS];
} step_effect;

static const step_effect effects[DPI_SILO_N_STEPS] = {
    [DPI_SILO_INQUIRE] = {{CLEAR, CLEAR}, CLEAR, {false}},
    [DPI_SILO_ISUM] = {{CLEAR}, CLEAR, {false}},
    [DPI_SILO_DGAUSS] = {{CLEAR}, CLEAR, {false}},
    [DPI_SILO_ADVANCE] = {{CLEAR, CLEAR}, CLEAR, {false}},
    [DPI_SILO_MASK] = {{CLEAR}, MASKED, {false}},
    [DPI_SILO_ROSTER] = {{MASKED}, ROSTER, {true}},
    [DPI_SILO_CONSENT] = {{ROSTER}, CONSENT, {false}},
    [DPI_SILO_UNLOCK] = {{ROSTER, CONSENT}, KEYS, {false, true}},
    [DPI_SILO_ADDALL] = {{MASKED, ROSTER, KEYS}, CLEAR, {true, false, true}},
    [DPI_SILO_PLAIN] = {{CLEAR}, CLEAR, {false}},
    [DPI_SILO_ADDPLAIN] = {{CLEAR}, CLEAR, {true}},
    [DPI_SILO_OPEN] = {{CLEAR}, CLEAR, {false}},
};

/* A value at a party. */
typedef struct label {
    form form;
    uint64_t raw;     /* parties whose records it follows from, but for releases */
    uint64_t through; /* and through releases */
    uint64_t shares;  /* of noise, whose */
    uint16_t noise;   /* variable that they were added to, or DPI_SILO_NONE */
    bool named;       /* raw is all through what a clause lets this party see */
} label;

/* Values of a register, by who has sent them. */
typedef struct labels {
    label from[DPI_SILO_PARTIES];
} labels;

enum { MOST_LETTERS = 64 };

/* What one party has sent another. */
typedef struct bag {
    size_t n, taken;
    struct letter {
        uint16_t reg; /* of the sender */
        label label;
    } * letters; /* [MOST_LETTERS], made with the first */
} bag;

typedef struct joint_check {
    const dpi_silo_program *p;
    const dpi_silo_scheme *scheme;
    const dpi_silo_part *parts;
    dpi_arena *arena;
    labels *values[DPI_SILO_PARTIES]; /* [n_registers] */
    size_t at[DPI_SILO_PARTIES];      /* the next step */
    bag *bags;                        /* [n][n], of sender and receiver */
    size_t n_views, view_room;
    dpi_silo_view *views;
    dp_error *err;
} joint_check;

static bool is_in(uint64_t set, size_t k)
{
    return (set >> k & 1) != 0;
}

static uint64_t only(size_t k)
{
    return (uint64_t)1 << k;
}

uint16_t dpi_silo_variable_of(const dpi_silo_program *p, const dpi_silo_register *r)
{
    return dpi_silo_find(p, r->name, strcspn(r->name, "."));
}

static const char *party(const joint_check *c, size_t k)
{
    return c->p->who.names[k];
}

/* The first party of a set, for messages. */
static const char *first(const joint_check *c, uint64_t set)
{
    size_t k = 0;
    while (k + 1 < c->p->who.n && !is_in(set, k))
        k++;
    return party(c, k);
}

/* "north: h.s (h = s_reveal N): what is wrong". */
static dp_status refuse(const joint_check *c, size_t k, uint16_t reg, const char *what,
                        const char *more)
{
    const dpi_silo_register *r = &c->parts[k].registers[reg];
    uint16_t at = dpi_silo_variable_of(c->p, r);
    if (at == DPI_SILO_NONE)
        return dpi_fail(c->err, DP_EPRIVACY, "%s: %s: %s%s", party(c, k), r->name, what, more);
    const dpi_silo_variable *v = &c->p->variables[at];
    const dpi_silo_op_row *op = &dpi_silo_ops[v->op];
    return dpi_fail(c->err, DP_EPRIVACY, "%s: %s (%s = %s%s %s%s%s): %s%s", party(c, k), r->name,
                    v->name, v->marked ? "s_" : "", op->name,
                    op->args > 0 ? c->p->variables[v->arg[0]].name : "", op->args > 1 ? " " : "",
                    op->args > 1 ? c->p->variables[v->arg[1]].name : "", what, more);
}

/* ---- what a party sees ---- */

static const dpi_silo_clause *clause_of(const joint_check *c, size_t k, uint16_t reg)
{
    const dpi_silo_register *r = &c->parts[k].registers[reg];
    uint16_t at = dpi_silo_variable_of(c->p, r);
    const char *local = strchr(r->name, '.');
    for (size_t j = 0; at != DPI_SILO_NONE && local != NULL && j < c->scheme->n_clauses; j++) {
        const dpi_silo_clause *cl = &c->scheme->clauses[j];
        dpi_silo_role role = dpi_silo_role_of(cl->to);
        if (strcmp(cl->op, dpi_silo_ops[c->p->variables[at].op].name) == 0 &&
            strcmp(cl->value, local + 1) == 0 && role != DPI_SILO_N_ROLES &&
            is_in(dpi_silo_members(&c->p->who, role), k))
            return cl;
    }
    return NULL;
}

static dp_status list_view(joint_check *c, size_t k, uint16_t reg, uint64_t owners,
                           const dpi_silo_clause *clause)
{
    const char *name = c->parts[k].registers[reg].name;
    for (size_t j = 0; j < c->n_views; j++)
        if (c->views[j].party == k && strcmp(c->views[j].name, name) == 0) {
            c->views[j].owners |= owners;
            return DP_OK;
        }
    if (!dpi_arena_grow(c->arena, (void **)&c->views, &c->view_room, c->n_views + 1,
                        sizeof *c->views))
        return dpi_fail_nomem(c->err);
    dpi_silo_view *v = &c->views[c->n_views++];
    *v = (dpi_silo_view){.party = (uint16_t)k, .owners = owners, .clause = clause};
    memcpy(v->name, name, strlen(name) + 1);
    return DP_OK;
}

/* A value that has come to party k from elsewhere, or was opened there. */
static dp_status look(joint_check *c, size_t k, uint16_t reg, label *l)
{
    const uint64_t others = l->raw & ~only(k), lacking = dpi_silo_everyone(&c->p->who) & ~l->shares;
    const dpi_silo_clause *clause = l->raw != 0 ? clause_of(c, k, reg) : NULL;
    if (l->form != CLEAR)
        return DP_OK;
    l->named = clause != NULL;
    if (((l->raw | l->through) & ~only(k)) == 0)
        return DP_OK;
    if (others == 0 || clause != NULL)
        return list_view(c, k, reg, l->raw | l->through, clause);
    if (l->shares != 0 && lacking != 0)
        return refuse(c, k, reg,
                      "this party would see it in the clear, and it lacks the share of noise of ",
                      first(c, lacking));
    return refuse(c, k, reg,
                  "this party would see in the clear, with neither noise nor a clause that names "
                  "it, what follows from the records of ",
                  first(c, others));
}

/* ---- steps ---- */

/* Adds what another value follows from. */
static void follow(label *l, const label *from)
{
    l->named = from->raw == 0 || from->named ? l->named : false;
    l->raw |= from->raw;
    l->through |= from->through;
}

/* Of all who have sent a register's value here, and this party's own. */
static label join(const labels *all, size_t n)
{
    label l = {.noise = DPI_SILO_NONE, .named = true};
    for (size_t k = 0; k < n; k++) {
        const label *from = &all->from[k];
        if (from->form == ABSENT)
            continue;
        follow(&l, from);
        l.noise = l.form == ABSENT || l.noise == from->noise ? from->noise : DPI_SILO_NONE;
        l.form = from->form;
        l.shares |= from->shares;
    }
    return l;
}

static dp_status check_inputs(const joint_check *c, size_t k, const dpi_silo_step *s)
{
    const step_effect *e = &effects[s->kind];
    for (int a = 0; a < dpi_silo_step_args(s->kind); a++) {
        const labels *in = &c->values[k][s->in[a]];
        uint64_t there = 0;
        for (size_t j = 0; j < c->p->who.n; j++) {
            if (in->from[j].form == ABSENT)
                continue;
            there |= only(j);
            if (in->from[j].form != e->in[a])
                return refuse(c, k, s->in[a], dpi_silo_step_name(s->kind),
                              e->in[a] == MASKED ? " adds up what is not masked"
                                                 : " does not work on what this register has");
        }
        if (there == 0)
            return refuse(c, k, s->in[a], dpi_silo_step_name(s->kind),
                          " reads it before there is a value");
        if (e->of_all[a] && there != dpi_silo_everyone(&c->p->who))
            return refuse(c, k, s->in[a], "this needs what all parties have, and lacks that of ",
                          first(c, ~there));
    }
    return DP_OK;
}

/* A sum with the noise of all that the account has becomes a release. */
static bool is_release(const joint_check *c, const label *l)
{
    bool accounted = false;
    for (size_t j = 0; j < c->p->n_entries; j++)
        accounted =
            accounted || (c->p->entries[j].variable == l->noise && c->p->entries[j].sigma > 0);
    return accounted && l->shares == dpi_silo_everyone(&c->p->who);
}

static dp_status check_account(const joint_check *c, size_t k, const dpi_silo_step *s,
                               const label *l)
{
    if (l->shares != dpi_silo_everyone(&c->p->who) || is_release(c, l))
        return DP_OK;
    return refuse(c, k, s->out, "it is opened with noise, and the account has no entry for ",
                  l->noise == DPI_SILO_NONE ? "it" : c->p->variables[l->noise].name);
}

static bool adds_up(dpi_silo_step_kind kind)
{
    return kind == DPI_SILO_ADDALL || kind == DPI_SILO_ADDPLAIN;
}

static dp_status compute(joint_check *c, size_t k, const dpi_silo_step *s)
{
    const step_effect *e = &effects[s->kind];
    const size_t n = c->p->who.n;
    label l = {.noise = DPI_SILO_NONE, .named = true}, *out = &c->values[k][s->out].from[k];
    if (e->out == ABSENT)
        return refuse(c, k, s->out, "nothing is known of the step ", dpi_silo_step_name(s->kind));
    dp_status status = check_inputs(c, k, s);
    if (status != DP_OK)
        return status;
    for (int a = 0; a < dpi_silo_step_args(s->kind); a++) {
        const label in = join(&c->values[k][s->in[a]], n);
        follow(&l, &in);
        l.shares |= a == 0 ? in.shares : 0;
        l.noise = a == 0 ? in.noise : l.noise;
    }
    l.form = e->out;
    if (e->out == ROSTER || e->out == CONSENT || e->out == KEYS)
        l = (label){.form = e->out, .noise = DPI_SILO_NONE};
    if (s->kind == DPI_SILO_DGAUSS) {
        l.shares |= only(k);
        l.noise = dpi_silo_variable_of(c->p, &c->parts[k].registers[s->out]);
    }
    if (s->kind == DPI_SILO_INQUIRE || s->kind == DPI_SILO_ADVANCE)
        l.shares = 0;
    if (adds_up(s->kind)) {
        status = check_account(c, k, s, &l);
        if (status == DP_OK && is_release(c, &l)) {
            l.through |= l.raw;
            l.raw = 0;
        }
        if (status == DP_OK)
            status = look(c, k, s->out, &l);
    }
    *out = l;
    return status;
}

/* ---- letters ---- */

static dp_status send(joint_check *c, size_t k, const dpi_silo_step *s)
{
    bag *b = &c->bags[k * c->p->who.n + s->peer];
    const label *l = &c->values[k][s->out].from[k];
    if (l->form == ABSENT)
        return refuse(c, k, s->out, "it is sent before there is a value to ", party(c, s->peer));
    if (l->form == KEYS && s->peer != c->parts[k].aggregator)
        return refuse(c, k, s->out, "keys of masks are for the one that adds up, not for ",
                      party(c, s->peer));
    for (size_t j = 0; j < b->n; j++)
        if (b->letters[j].reg == s->out)
            return refuse(c, k, s->out, "it is sent a second time to ", party(c, s->peer));
    if (b->letters == NULL)
        b->letters = dpi_arena_alloc(c->arena, MOST_LETTERS, sizeof *b->letters);
    if (b->letters == NULL)
        return dpi_fail_nomem(c->err);
    if (b->n == MOST_LETTERS)
        return refuse(c, k, s->out, "that are too many letters in one step to ", party(c, s->peer));
    b->letters[b->n++] = (struct letter){s->out, *l};
    return DP_OK;
}

static bool same_size(const dpi_silo_register *a, const dpi_silo_register *b)
{
    return a->words == b->words && a->bytes == b->bytes && a->scales == b->scales;
}

/* *there: whether it has been sent. */
static dp_status receive(joint_check *c, size_t k, const dpi_silo_step *s, bool *there)
{
    bag *b = &c->bags[s->peer * c->p->who.n + k];
    const dpi_silo_register *mine = &c->parts[k].registers[s->out];
    *there = false;
    for (size_t j = 0; j < b->n; j++) {
        const dpi_silo_register *r = &c->parts[s->peer].registers[b->letters[j].reg];
        if (strcmp(r->name, mine->name) != 0)
            continue;
        if (!same_size(r, mine))
            return refuse(c, k, s->out, "it is awaited in another size than it is sent by ",
                          party(c, s->peer));
        label *l = &c->values[k][s->out].from[s->peer];
        *l = b->letters[j].label;
        b->taken++;
        *there = true;
        return look(c, k, s->out, l);
    }
    return DP_OK;
}

/* ---- a step of all ---- */

static dp_status begin(joint_check *c)
{
    const size_t n = c->p->who.n;
    memset(c->at, 0, sizeof c->at);
    c->bags = dpi_arena_alloc(c->arena, n * n, sizeof *c->bags);
    for (size_t k = 0; k < n; k++) {
        const size_t some = c->parts[k].n_registers;
        labels *old = c->values[k];
        c->values[k] = dpi_arena_alloc(c->arena, some + 1, sizeof(labels));
        if (c->bags == NULL || c->values[k] == NULL)
            return dpi_fail_nomem(c->err);
        for (size_t r = 0; r < some; r++) {
            uint16_t at = dpi_silo_variable_of(c->p, &c->parts[k].registers[r]);
            const dpi_silo_variable *v = at != DPI_SILO_NONE ? &c->p->variables[at] : NULL;
            if (v == NULL || v->op != DPI_SILO_OP_INPUT)
                continue;
            c->values[k][r].from[k] =
                (label){.form = CLEAR, .raw = v->of_records ? only(k) : 0, .noise = DPI_SILO_NONE};
            if (old != NULL) /* what was carried lies where the input does */
                c->values[k][r].from[k] = old[r].from[k];
        }
    }
    return DP_OK;
}

static dp_status advance(joint_check *c, size_t k, bool *moved)
{
    const dpi_silo_part *part = &c->parts[k];
    dp_status status = DP_OK;
    while (status == DP_OK && c->at[k] < part->n_steps) {
        const dpi_silo_step *s = &part->steps[c->at[k]];
        bool there = true;
        if (s->out >= part->n_registers ||
            ((s->kind == DPI_SILO_SEND || s->kind == DPI_SILO_RECV) &&
             (s->peer >= c->p->who.n || s->peer == k)))
            return dpi_fail(c->err, DP_EPRIVACY, "%s: step %zu is of nothing", party(c, k),
                            c->at[k]);
        status = s->kind == DPI_SILO_SEND   ? send(c, k, s)
                 : s->kind == DPI_SILO_RECV ? receive(c, k, s, &there)
                                            : compute(c, k, s);
        if (!there)
            return status;
        c->at[k]++;
        *moved = true;
    }
    return status;
}

/* All parts are at their end, and all letters were taken. */
static dp_status conclude(const joint_check *c)
{
    const size_t n = c->p->who.n;
    for (size_t k = 0; k < n; k++)
        if (c->at[k] < c->parts[k].n_steps) {
            const dpi_silo_step *s = &c->parts[k].steps[c->at[k]];
            return refuse(c, k, s->out, "this party waits for ever for what nobody sends it: ",
                          party(c, s->peer));
        }
    for (size_t k = 0; k < n * n; k++)
        if (c->bags[k].taken < c->bags[k].n)
            return refuse(c, k / n, c->bags[k].letters[c->bags[k].taken].reg,
                          "it is sent, and never taken by ", party(c, k % n));
    return DP_OK;
}

/* Masks are of one vector a step: two would be hidden by the same numbers. */
static dp_status check_once(const joint_check *c, dpi_silo_step_kind kind, const char *what)
{
    for (size_t k = 0; k < c->p->who.n; k++) {
        bool seen = false;
        for (size_t j = 0; j < c->parts[k].n_steps; j++) {
            const dpi_silo_step *s = &c->parts[k].steps[j];
            if (s->kind == kind && seen)
                return refuse(c, k, s->out, what, "");
            seen = seen || s->kind == kind;
        }
    }
    return DP_OK;
}

static size_t register_of(const joint_check *c, size_t k, uint16_t variable)
{
    size_t r = 0;
    while (r < c->parts[k].n_registers &&
           strcmp(c->parts[k].registers[r].name, c->p->variables[variable].name) != 0)
        r++;
    return r;
}

/* Whether it follows from records, this party's own or others', in a way that no clause names.  What
 * a clause lets it see of all owners' records has its own in it, and is as public as theirs. */
static bool is_secret(const label *l)
{
    return l->raw != 0 && !l->named;
}

/* Moves what is carried to where it is next; *changed: labels are others than before. */
static dp_status carry(joint_check *c, bool *changed)
{
    *changed = false;
    for (size_t j = 0; j < c->p->n_carried; j++) {
        const dpi_silo_carry *carried = &c->p->carried[j];
        const dpi_silo_variable *v = &c->p->variables[carried->variable];
        for (size_t k = 0; k < c->p->who.n; k++) {
            size_t from = register_of(c, k, carried->variable),
                   to = register_of(c, k, carried->input);
            if (from == c->parts[k].n_registers || to == c->parts[k].n_registers)
                continue;
            label l = join(&c->values[k][from], c->p->who.n), *was = &c->values[k][to].from[k];
            if (is_secret(&l) && v->type.place.where != DPI_SILO_BY_ROWS)
                return refuse(c, k, (uint16_t)from,
                              "it is carried to the next step, and follows from records, so that "
                              "what a record adds there would have no bound; from those of ",
                              first(c, l.raw));
            *changed = *changed || (l.raw & ~was->raw) != 0 || (l.through & ~was->through) != 0;
            follow(&l, was);
            *was = l;
        }
    }
    return DP_OK;
}

static dp_status run(joint_check *c)
{
    dp_status status = begin(c);
    for (bool moved = true; moved && status == DP_OK;) {
        moved = false;
        for (size_t k = 0; k < c->p->who.n && status == DP_OK; k++)
            status = advance(c, k, &moved);
    }
    return status == DP_OK ? conclude(c) : status;
}

dp_status dpi_silo_check(const dpi_silo_program *p, const dpi_silo_scheme *scheme,
                         const dpi_silo_part *parts, dpi_arena *arena, size_t *n,
                         dpi_silo_view **list, dp_error *err)
{
    joint_check c = {.p = p, .scheme = scheme, .parts = parts, .arena = arena, .err = err};
    bool changed = true;
    dp_status status = dpi_silo_check_ranges(p, err);
    if (status == DP_OK)
        status = check_once(&c, DPI_SILO_MASK,
                            "a second vector would be hidden by the masks of the first");
    if (status == DP_OK)
        status = check_once(&c, DPI_SILO_UNLOCK, "masks of one step would be told twice");
    while (status == DP_OK && changed) {
        status = run(&c);
        if (status == DP_OK)
            status = carry(&c, &changed);
    }
    *n = c.n_views;
    *list = c.views;
    return status;
}
