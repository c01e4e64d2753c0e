/* The parts are gone through side by side, each as far as what it waits for has been sent.  Twice
 * at least: what is carried to the next step has the labels of the first there. */
#include "silo/check.h"

#include <string.h>

#include "base/error.h"
#include "silo/check-inside.h"

/* ---- steps ---- */

/* What a step reads is there, has the form that it works on, and nothing else is in its place. */
static dp_status check_input(const dpi_joint_check *c, size_t k, const dpi_silo_step *s, int a)
{
    const dpi_label_effect *e = &dpi_label_effects[s->kind];
    const dpi_labels *in = &c->values[k][s->in[a]];
    const uint64_t wanted = dpi_label_read(&c->p->who, k, e->of[a]);
    uint64_t there = 0;
    for (size_t j = 0; j < c->p->who.n; j++) {
        if (in->from[j].form == DPI_LABEL_ABSENT || (e->of[a] == DPI_LABEL_OTHERS && j == k))
            continue;
        there |= dpi_check_only(j);
        if (in->from[j].form != e->in[a])
            return dpi_check_refuse(c, k, s->in[a], dpi_silo_step_name(s->kind),
                                    e->in[a] == DPI_LABEL_MASKED ? " adds up what is not masked"
                                    : e->in[a] == DPI_LABEL_COVERED
                                        ? " adds up what is not covered"
                                        : " does not work on what this register has");
    }
    if ((there & ~wanted) != 0)
        return dpi_check_refuse(c, k, s->in[a],
                                "it is read here as another's, and there is a value of ",
                                dpi_check_first(c, there & ~wanted));
    const bool of_many = e->of[a] == DPI_LABEL_EVERYBODY || e->of[a] == DPI_LABEL_REST ||
                         e->of[a] == DPI_LABEL_OWNERS;
    if (there == 0 || (!of_many && there != wanted))
        return dpi_check_refuse(c, k, s->in[a], dpi_silo_step_name(s->kind),
                                " reads it before there is a value");
    if (there != wanted)
        return dpi_check_refuse(c, k, s->in[a],
                                "this needs what all parties have, and lacks that of ",
                                dpi_check_first(c, wanted & ~there));
    return DP_OK;
}

static bool adds_up(dpi_silo_step_kind kind)
{
    return kind == DPI_SILO_ADDALL || kind == DPI_SILO_ADDPLAIN || kind == DPI_SILO_COMBINE;
}

/* The label of an argument that is one party's, columns being of two; NULL where there is no such
 * argument. */
static const dpi_label *read_by(const dpi_joint_check *c, size_t k, const dpi_silo_step *s, int a)
{
    const dpi_label_whose of = dpi_label_effects[s->kind].of[a];
    const size_t from = of == DPI_LABEL_OWN      ? k
                        : of == DPI_LABEL_OTHERS ? 1 - k
                                                 : c->p->who.aggregator;
    return a < dpi_silo_step_args(s->kind) ? &c->values[k][s->in[a]].from[from] : NULL;
}

static dp_status compute(dpi_joint_check *c, size_t k, const dpi_silo_step *s)
{
    const dpi_label_effect *e = &dpi_label_effects[s->kind];
    dpi_label l = {.form = e->out, .noise = DPI_SILO_NONE, .named = true};
    dp_status status = DP_OK;
    if (e->out == DPI_LABEL_ABSENT)
        return dpi_check_refuse(c, k, s->out, "nothing is known of the step ",
                                dpi_silo_step_name(s->kind));
    for (int a = 0; a < dpi_silo_step_args(s->kind) && status == DP_OK; a++)
        status = check_input(c, k, s, a);
    if (status != DP_OK)
        return status;
    for (int a = 0; a < dpi_silo_step_args(s->kind); a++)
        for (size_t j = 0; j < c->p->who.n; j++)
            if ((dpi_label_read(&c->p->who, k, e->of[a]) >> j & 1) != 0)
                dpi_label_follow(&l, &c->values[k][s->in[a]].from[j]);
    if (dpi_silo_step_is_of_shares(s->kind))
        status = dpi_check_shares(c, k, s, &l);
    else if (s->kind == DPI_SILO_REFINE)
        status = dpi_check_release_alone(c, k, s, &l);
    else if (adds_up(s->kind))
        status = dpi_check_open_sum(c, k, s, &l);
    else if (s->kind == DPI_SILO_UNVEIL)
        status = dpi_check_open_block(c, k, s, &l);
    else if (s->kind == DPI_SILO_SLOPE || s->kind == DPI_SILO_PULLBACK)
        dpi_check_slope(c, k, s, &l);
    else if (e->out == DPI_LABEL_CLEAR || e->out == DPI_LABEL_MASKED ||
             e->out == DPI_LABEL_COVERED || e->out == DPI_LABEL_COLUMNS ||
             e->out == DPI_LABEL_ANSWER)
        dpi_label_make(&l, s, k, read_by(c, k, s, 0), read_by(c, k, s, 1),
                       dpi_silo_variable_of(c->p, &c->parts[k].registers[s->out]));
    else
        l = (dpi_label){.form = e->out, .noise = DPI_SILO_NONE};
    c->values[k][s->out].from[k] = l;
    return status;
}

/* ---- letters ---- */

static dp_status send(dpi_joint_check *c, size_t k, const dpi_silo_step *s)
{
    dpi_letter_bag *b = &c->bags[k * c->p->who.n + s->peer];
    const dpi_label *l = &c->values[k][s->out].from[k];
    const char *stays = dpi_label_stays(l->form, s->peer == c->p->who.aggregator);
    if (l->form == DPI_LABEL_ABSENT)
        return dpi_check_refuse(c, k, s->out, "it is sent before there is a value to ",
                                dpi_check_party(c, s->peer));
    if (stays != NULL)
        return dpi_check_refuse(c, k, s->out, stays, dpi_check_party(c, s->peer));
    if (l->form == DPI_LABEL_CLEAR && l->shares != 0)
        return dpi_check_refuse(
            c, k, s->out, "this party's share of the noise must stay hidden, and would be told to ",
            dpi_check_party(c, s->peer));
    for (size_t j = 0; j < b->n; j++)
        if (b->letters[j].reg == s->out)
            return dpi_check_refuse(c, k, s->out, "it is sent a second time to ",
                                    dpi_check_party(c, s->peer));
    if (b->letters == NULL)
        b->letters = dpi_arena_alloc(c->arena, MOST_LETTERS, sizeof *b->letters);
    if (b->letters == NULL)
        return dpi_fail_nomem(c->err);
    if (b->n == MOST_LETTERS)
        return dpi_check_refuse(c, k, s->out, "that are too many letters in one step to ",
                                dpi_check_party(c, s->peer));
    b->letters[b->n++] = (struct letter){.reg = s->out, .once = s->once, .label = *l};
    return DP_OK;
}

/* *there: whether it has been sent. */
static dp_status receive(dpi_joint_check *c, size_t k, const dpi_silo_step *s, bool *there)
{
    dpi_letter_bag *b = &c->bags[s->peer * c->p->who.n + k];
    const dpi_silo_register *mine = &c->parts[k].registers[s->out];
    *there = false;
    for (size_t j = 0; j < b->n; j++) {
        const dpi_silo_register *r = &c->parts[s->peer].registers[b->letters[j].reg];
        if (strcmp(r->name, mine->name) != 0 || b->letters[j].taken)
            continue;
        if (!dpi_silo_same_size(r, mine))
            return dpi_check_refuse(c, k, s->out,
                                    "it is awaited in another size than it is sent by ",
                                    dpi_check_party(c, s->peer));
        if (b->letters[j].once != s->once)
            return dpi_check_refuse(c, k, s->out,
                                    "one of the two takes it for a letter of every step: ",
                                    dpi_check_party(c, b->letters[j].once ? k : s->peer));
        dpi_label *l = &c->values[k][s->out].from[s->peer];
        *l = b->letters[j].label;
        b->letters[j].taken = true;
        *there = true;
        return dpi_check_look(c, k, s->out, l);
    }
    return DP_OK;
}

/* ---- a step of all ---- */

/* Whether it is of single records, each owner's own or with columns of its own. */
static bool has_rows(const dpi_silo_type *t)
{
    return t->place.where == DPI_SILO_BY_ROWS ||
           (t->place.where == DPI_SILO_BY_COLUMNS && t->n_dims == DPI_SILO_DIMS);
}

static dp_status begin(dpi_joint_check *c)
{
    const size_t n = c->p->who.n;
    memset(c->at, 0, sizeof c->at);
    c->bags = dpi_arena_alloc(c->arena, n * n, sizeof *c->bags);
    for (size_t k = 0; k < n; k++) {
        const size_t some = c->parts[k].n_registers;
        dpi_labels *old = c->values[k];
        c->values[k] = dpi_arena_alloc(c->arena, some + 1, sizeof(dpi_labels));
        if (c->bags == NULL || c->values[k] == NULL)
            return dpi_fail_nomem(c->err);
        for (size_t r = 0; r < some; r++) {
            const char *name = c->parts[k].registers[r].name;
            uint16_t at = dpi_silo_find(c->p, name, strlen(name));
            const dpi_silo_variable *v = at != DPI_SILO_NONE ? &c->p->variables[at] : NULL;
            if (v == NULL || v->op != DPI_SILO_OP_INPUT)
                continue;
            c->values[k][r].from[k] = (dpi_label){.form = DPI_LABEL_CLEAR,
                                                  .raw = v->of_records ? dpi_check_only(k) : 0,
                                                  .noise = DPI_SILO_NONE,
                                                  .rows = has_rows(&v->type)};
            if (old != NULL) /* what was carried lies where the input does */
                c->values[k][r].from[k] = old[r].from[k];
        }
    }
    return DP_OK;
}

static dp_status advance(dpi_joint_check *c, size_t k, bool *moved)
{
    const dpi_silo_part *part = &c->parts[k];
    dp_status status = DP_OK;
    while (status == DP_OK && c->at[k] < part->n_steps) {
        const dpi_silo_step *s = &part->steps[c->at[k]];
        bool there = true;
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
static dp_status conclude(const dpi_joint_check *c)
{
    const size_t n = c->p->who.n;
    for (size_t k = 0; k < n; k++)
        if (c->at[k] < c->parts[k].n_steps) {
            const dpi_silo_step *s = &c->parts[k].steps[c->at[k]];
            return dpi_check_refuse(c, k, s->out,
                                    "this party waits for ever for what nobody sends it: ",
                                    dpi_check_party(c, s->peer));
        }
    for (size_t k = 0; k < n * n; k++)
        for (size_t j = 0; j < c->bags[k].n; j++)
            if (!c->bags[k].letters[j].taken)
                return dpi_check_refuse(c, k / n, c->bags[k].letters[j].reg,
                                        "it is sent, and never taken by ",
                                        dpi_check_party(c, k % n));
    return DP_OK;
}

static size_t register_of(const dpi_joint_check *c, size_t k, uint16_t variable)
{
    size_t r = 0;
    while (r < c->parts[k].n_registers &&
           strcmp(c->parts[k].registers[r].name, c->p->variables[variable].name) != 0)
        r++;
    return r;
}

/* Whether it follows from records, this party's own or others', and not all see it anyway. */
static bool is_secret(const dpi_label *l)
{
    return l->raw != 0 && !l->named;
}

/* Moves what is carried to where it is next; *changed: labels are others than before. */
static dp_status carry(dpi_joint_check *c, bool *changed)
{
    *changed = false;
    for (size_t j = 0; j < c->p->n_carried; j++) {
        const dpi_silo_carry *carried = &c->p->carried[j];
        for (size_t k = 0; k < c->p->who.n; k++) {
            size_t from = register_of(c, k, carried->variable),
                   to = register_of(c, k, carried->input);
            if (from == c->parts[k].n_registers || to == c->parts[k].n_registers)
                continue;
            dpi_label l = c->values[k][from].from[k], *was = &c->values[k][to].from[k];
            if (is_secret(&l) && !l.rows)
                return dpi_check_refuse(
                    c, k, (uint16_t)from,
                    "it is carried to the next step, and follows from records, so that "
                    "what a record adds there would have no bound; from those of ",
                    dpi_check_first(c, l.raw));
            *changed = *changed || (l.raw & ~was->raw) != 0 || (l.through & ~was->through) != 0 ||
                       (l.alone & ~was->alone) != 0;
            dpi_label_follow(&l, was);
            l.rows = l.rows && was->rows;
            l.shares = 0;
            l.noise = DPI_SILO_NONE;
            *was = l;
        }
    }
    return DP_OK;
}

static dp_status run(dpi_joint_check *c)
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
    dpi_joint_check c = {.p = p, .scheme = scheme, .parts = parts, .arena = arena, .err = err};
    bool changed = true;
    dp_status status = dpi_silo_check_ranges(p, err);
    if (status == DP_OK)
        status = dpi_silo_check_parts(p, parts, err);
    while (status == DP_OK && changed) {
        status = run(&c);
        if (status == DP_OK)
            status = carry(&c, &changed);
    }
    if (status == DP_OK)
        status = dpi_silo_check_order(p, parts, err);
    *n = c.n_views;
    *list = c.views;
    return status;
}
