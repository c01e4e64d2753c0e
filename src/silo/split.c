/* Splitting: an operation that is not marked becomes one step at each party that has its result; a
 * marked one becomes what its rule says.  Statements are gone through in the order of the program,
 * and of each all sends come before all receives: nobody waits for what is sent later. */
#include "silo/split.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "crypto/threshold.h"

enum { CHECK = 8 };

/* What steps make, beside words of the vector that is opened: bytes, and more for each party. */
typedef struct layout {
    uint32_t words, bytes, each;
    bool encrypted;
    uint32_t fraction, block;
} layout;

_Static_assert((int)DPI_SILO_BLOCK == (int)DPI_THRESHOLD_DEGREE,
               "a block of words is a polynomial");

static const layout layouts[DPI_SILO_N_STEPS] = {
    [DPI_SILO_ISUM] = {1, 0, 0},
    [DPI_SILO_WALK] = {1, 0, 0},
    [DPI_SILO_DGAUSS] = {1, 0, 0},
    [DPI_SILO_OFFER] = {1, 0, 0},
    [DPI_SILO_MASK] = {1, CHECK, 0},
    [DPI_SILO_ROSTER] = {0, 8, 0},
    [DPI_SILO_CONSENT] = {0, 64, 0},
    [DPI_SILO_UNLOCK] = {0, 0, 32},
    [DPI_SILO_ADDALL] = {1, CHECK, 0},
    [DPI_SILO_PLAIN] = {1, CHECK, 0},
    [DPI_SILO_ADDPLAIN] = {1, CHECK, 0},
    [DPI_SILO_OPEN] = {1, 0, 0},
    [DPI_SILO_KEYPART] = {.bytes = DPI_RLWE_SEED + DPI_THRESHOLD_POLYNOMIAL},
    [DPI_SILO_SEALED] = {.block = DPI_THRESHOLD_POLYNOMIAL},
    [DPI_SILO_COVER] = {.fraction = DPI_THRESHOLD_WORD},
    [DPI_SILO_AGREE] = {.bytes = DPI_THRESHOLD_HASH},
    [DPI_SILO_PARTIAL] = {.fraction = DPI_THRESHOLD_WORD},
    [DPI_SILO_COMBINE] = {1, CHECK, 0},
    [DPI_SILO_INNER] = {1, 0, 0},
    [DPI_SILO_ENCRYPT] = {0, 0, 0, true},
    [DPI_SILO_ANSWER] = {0, 0, 0, true},
    [DPI_SILO_VEIL] = {0, 0, 0, true},
    [DPI_SILO_UNVEIL] = {1, 0, 0},
    [DPI_SILO_EMBED] = {0, 0, 0, true},
    [DPI_SILO_ADJOINT] = {0, 0, 0, true},
    [DPI_SILO_SLOPE] = {1, 0, 0},
    [DPI_SILO_PULLBACK] = {1, 0, 0},
    [DPI_SILO_DEAL] = {0, 0, 0, true},
    [DPI_SILO_GATHER] = {0, 0, 0, true},
    [DPI_SILO_RESIDUAL] = {0, 0, 0, true},
    [DPI_SILO_TALLY] = {1, 0, 0},
    [DPI_SILO_SHROUD] = {1, 0, 0},
    [DPI_SILO_BLEND] = {1, 0, 0},
    [DPI_SILO_DESCEND] = {1, 0, 0},
    [DPI_SILO_DISCLOSE] = {1, 0, 0},
    [DPI_SILO_JOIN] = {1, 0, 0},
};

void dpi_silo_lay(dpi_silo_step_kind kind, size_t n, dpi_silo_register *r)
{
    const layout *l = &layouts[kind];
    r->words = l->words;
    r->scales = l->words > 0;
    r->encrypted = l->encrypted;
    r->fraction = l->fraction;
    r->block = l->block;
    r->bytes = l->bytes + l->each * (uint32_t)n;
}

/* A part that is being made. */
typedef struct part_maker {
    size_t n_registers, n_steps, register_room, step_room;
    dpi_silo_register *registers;
    dpi_silo_step *steps;
} part_maker;

typedef struct splitter {
    const dpi_silo_program *p;
    const dpi_silo_scheme *scheme;
    dpi_arena *arena;
    part_maker *parts;
    const dpi_silo_variable *v; /* the operation that is split */
    dp_error *err;
} splitter;

static dp_status fail(const splitter *s, size_t party, const char *step, const char *name,
                      const char *what)
{
    return dpi_fail(s->err, DP_EINVAL, "%s = %s%s at %s: %s %s%s", s->v->name,
                    s->v->marked ? "s_" : "", dpi_silo_ops[s->v->op].name, s->p->who.names[party],
                    step, name, what);
}

static bool is_in(uint64_t set, size_t k)
{
    return (set >> k & 1) != 0;
}

uint64_t dpi_silo_members(const dpi_silo_parties *who, dpi_silo_role role)
{
    const uint64_t aggregator = (uint64_t)1 << who->aggregator;
    return role == DPI_SILO_AGG      ? aggregator
           : role == DPI_SILO_REST   ? dpi_silo_everyone(who) & ~aggregator
           : role == DPI_SILO_OWNERS ? dpi_silo_owners(who)
                                     : dpi_silo_everyone(who);
}

/* Parties at which a variable is. */
static uint64_t holders(const dpi_silo_program *p, const dpi_silo_variable *v)
{
    const dpi_silo_place place = v->type.place;
    if (place.where == DPI_SILO_BY_ROWS || place.where == DPI_SILO_BY_COLUMNS ||
        place.where == DPI_SILO_OWN)
        return dpi_silo_owners(&p->who);
    return place.where == DPI_SILO_AT ? (uint64_t)1 << place.party : dpi_silo_everyone(&p->who);
}

/* ---- registers ---- */

static bool is_argument(const char *local)
{
    return local[0] == 'x' && local[1] >= '0' && local[1] <= '9' &&
           (local[2] == '\0' || local[2] == '.');
}

/* The register that a name of a rule means: of this operation, or of what its arguments are. */
static bool name_of(const splitter *s, const char *local, char name[DPI_SILO_NAME])
{
    const dpi_silo_variable *v = s->v;
    while (is_argument(local)) {
        const size_t k = (size_t)(local[1] - '0');
        if (k >= dpi_silo_ops[v->op].args)
            return false;
        v = &s->p->variables[v->arg[k]];
        local += local[2] == '.' ? 3 : 2;
    }
    const bool whole = *local == '\0' || strcmp(local, "o") == 0;
    const int n = snprintf(name, DPI_SILO_NAME, whole ? "%s" : "%s.%s", v->name, local);
    return n > 0 && n < DPI_SILO_NAME;
}

static size_t find(const part_maker *g, const char *name)
{
    size_t k = 0;
    while (k < g->n_registers && strcmp(g->registers[k].name, name) != 0)
        k++;
    return k;
}

/* The register of a name, made where there is none; false when memory is out. */
static bool place(splitter *s, size_t party, const char *name, size_t *at)
{
    part_maker *g = &s->parts[party];
    *at = find(g, name);
    if (*at < g->n_registers)
        return true;
    if (!dpi_arena_grow(s->arena, (void **)&g->registers, &g->register_room, *at + 1,
                        sizeof *g->registers))
        return false;
    g->registers[*at] = (dpi_silo_register){.words = 0};
    memcpy(g->registers[*at].name, name, strlen(name) + 1);
    g->n_registers++;
    return true;
}

static dp_status add_step(splitter *s, size_t party, dpi_silo_step step)
{
    part_maker *g = &s->parts[party];
    if (!dpi_arena_grow(s->arena, (void **)&g->steps, &g->step_room, g->n_steps + 1,
                        sizeof *g->steps))
        return dpi_fail_nomem(s->err);
    g->steps[g->n_steps++] = step;
    return DP_OK;
}

/* ---- statements ---- */

static dp_status read_register(splitter *s, size_t party, const dpi_silo_statement *t,
                               const char *local, uint16_t *at)
{
    const part_maker *g = &s->parts[party];
    char name[DPI_SILO_NAME];
    size_t k = name_of(s, local, name) ? find(g, name) : g->n_registers;
    if (k == g->n_registers)
        return fail(s, party, dpi_silo_step_name(t->kind), local,
                    ", which is not there; no step before gives it to this party");
    *at = (uint16_t)k;
    return DP_OK;
}

static dp_status do_step(splitter *s, size_t party, const dpi_silo_statement *t)
{
    dpi_silo_step step = {.kind = t->kind, .once = t->once};
    char name[DPI_SILO_NAME];
    size_t out = 0;
    dp_status status = DP_OK;
    for (int k = 0; status == DP_OK && k < dpi_silo_step_args(t->kind); k++)
        status = read_register(s, party, t, t->in[k], &step.in[k]);
    if (status != DP_OK)
        return status;
    if (t->out[0] == 'x' || !name_of(s, t->out, name))
        return fail(s, party, dpi_silo_step_name(t->kind), t->out, ", which a step cannot make");
    if (!place(s, party, name, &out))
        return dpi_fail_nomem(s->err);
    dpi_silo_lay(t->kind, s->p->who.n, &s->parts[party].registers[out]);
    step.out = (uint16_t)out;
    return add_step(s, party, step);
}

static dp_status do_receive(splitter *s, const dpi_silo_statement *t, size_t from, size_t to,
                            uint16_t sent)
{
    const dpi_silo_register r = s->parts[from].registers[sent];
    dpi_silo_step step = {.kind = DPI_SILO_RECV,
                          .peer = (uint16_t)from,
                          .may_lack = t->may_lack && s->p->who.dropouts > 0,
                          .once = t->once};
    size_t at = 0;
    if (!place(s, to, r.name, &at))
        return dpi_fail_nomem(s->err);
    s->parts[to].registers[at] = r;
    step.out = (uint16_t)at;
    return add_step(s, to, step);
}

static dp_status do_send(splitter *s, const dpi_silo_statement *t)
{
    const size_t n = s->p->who.n;
    const uint64_t who = dpi_silo_members(&s->p->who, t->who),
                   whom = dpi_silo_members(&s->p->who, t->whom);
    uint16_t sent[DPI_SILO_PARTIES] = {0};
    dp_status status = DP_OK;
    for (size_t a = 0; a < n && status == DP_OK; a++) {
        if (!is_in(who, a))
            continue;
        status = read_register(s, a, t, t->out, &sent[a]);
        for (size_t b = 0; b < n && status == DP_OK; b++)
            if (a != b && is_in(whom, b))
                status = add_step(s, a,
                                  (dpi_silo_step){.kind = DPI_SILO_SEND,
                                                  .out = sent[a],
                                                  .peer = (uint16_t)b,
                                                  .once = t->once});
    }
    for (size_t b = 0; b < n; b++)
        for (size_t a = 0; a < n && status == DP_OK; a++)
            if (a != b && is_in(who, a) && is_in(whom, b))
                status = do_receive(s, t, a, b, sent[a]);
    return status;
}

static dp_status do_statement(splitter *s, const dpi_silo_statement *t)
{
    const uint64_t who = dpi_silo_members(&s->p->who, t->who);
    dp_status status = DP_OK;
    if (who == 0)
        return dpi_fail(s->err, DP_EINVAL,
                        "%s = s_%s: scheme %s is of several owners, and there is one; choose one "
                        "that is not",
                        s->v->name, dpi_silo_ops[s->v->op].name, s->scheme->name);
    if (t->kind == DPI_SILO_SEND)
        return do_send(s, t);
    for (size_t k = 0; k < s->p->who.n && status == DP_OK; k++)
        if (is_in(who, k))
            status = do_step(s, k, t);
    return status;
}

/* ---- operations ---- */

static const dpi_silo_rule *rule_of(const splitter *s)
{
    const char *op = dpi_silo_ops[s->v->op].name;
    const dpi_silo_variable *first = &s->p->variables[s->v->arg[0]];
    const char *place_text = dpi_silo_place_text(&s->p->who, first->type.place);
    for (size_t k = 0; k < s->scheme->n_rules; k++)
        if (strcmp(s->scheme->rules[k].op, op) == 0 &&
            strcmp(s->scheme->rules[k].place, place_text) == 0)
            return &s->scheme->rules[k];
    (void)dpi_fail(s->err, DP_EUNSUPPORTED,
                   "%s = s_%s %s: scheme %s has no rule for it on place %s, so that it cannot be "
                   "said what each party does; choose a scheme that has one",
                   s->v->name, op, first->name, s->scheme->name, place_text);
    return NULL;
}

static dp_status split_marked(splitter *s)
{
    const dpi_silo_rule *rule = rule_of(s);
    dpi_silo_statement list[DPI_SILO_STATEMENTS];
    size_t n;
    if (rule == NULL)
        return DP_EUNSUPPORTED;
    dp_status status = dpi_silo_rule_read(rule, &n, list, s->err);
    for (size_t k = 0; k < n && status == DP_OK; k++)
        status = do_statement(s, &list[k]);
    return status;
}

/* One step of the same name at each party that has the result. */
static dp_status split_local(splitter *s)
{
    static const char *const arguments[DPI_SILO_ARGS] = {"x0", "x1", "x2"};
    dpi_silo_statement t = {.out = "o",
                            .once = s->v->op == DPI_SILO_OP_BOUND,
                            .kind = s->v->op == DPI_SILO_OP_SUM
                                        ? DPI_SILO_ISUM
                                        : dpi_silo_step_named(dpi_silo_ops[s->v->op].name)};
    const uint64_t who = holders(s->p, s->v);
    dp_status status = DP_OK;
    for (size_t k = 0; k < dpi_silo_ops[s->v->op].args; k++)
        memcpy(t.in[k], arguments[k], strlen(arguments[k]) + 1);
    for (size_t k = 0; k < s->p->who.n && status == DP_OK; k++)
        if (is_in(who, k))
            status = do_step(s, k, &t);
    return status;
}

static dp_status split_input(splitter *s)
{
    const uint64_t who = holders(s->p, s->v);
    size_t at;
    for (size_t k = 0; k < s->p->who.n; k++)
        if (is_in(who, k) && !place(s, k, s->v->name, &at))
            return dpi_fail_nomem(s->err);
    return DP_OK;
}

/* The result must be where its place says. */
static dp_status check_result(splitter *s)
{
    const uint64_t who = holders(s->p, s->v);
    for (size_t k = 0; k < s->p->who.n; k++)
        if (is_in(who, k) && find(&s->parts[k], s->v->name) == s->parts[k].n_registers)
            return fail(s, k, "the rule of scheme", s->scheme->name,
                        " does not give the result to this party");
    return DP_OK;
}

dp_status dpi_silo_split(const dpi_silo_program *p, const dpi_silo_scheme *scheme, dpi_arena *arena,
                         dpi_silo_part *parts, dp_error *err)
{
    splitter s = {.p = p, .scheme = scheme, .arena = arena, .err = err};
    dp_status status = dpi_silo_program_end(p, err);
    if (status != DP_OK)
        return status;
    s.parts = dpi_arena_alloc(arena, p->who.n, sizeof *s.parts);
    if (s.parts == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < p->n_variables && status == DP_OK; k++) {
        s.v = &p->variables[k];
        status = s.v->op == DPI_SILO_OP_INPUT ? split_input(&s)
                 : s.v->marked                ? split_marked(&s)
                                              : split_local(&s);
        if (status == DP_OK)
            status = check_result(&s);
    }
    for (size_t k = 0; k < p->who.n && status == DP_OK; k++)
        parts[k] = (dpi_silo_part){.party = (uint16_t)k,
                                   .parties = p->who.n,
                                   .aggregator = p->who.aggregator,
                                   .n_registers = s.parts[k].n_registers,
                                   .n_steps = s.parts[k].n_steps,
                                   .registers = s.parts[k].registers,
                                   .steps = s.parts[k].steps};
    return status;
}
