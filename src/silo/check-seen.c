/* What parties see in the clear, and what of that is a release or named by a clause. */
#include <string.h>

#include "base/error.h"
#include "silo/check-inside.h"

/* The first party of a set, for messages. */
const char *dpi_check_first(const dpi_joint_check *c, uint64_t set)
{
    size_t k = 0;
    while (k + 1 < c->p->who.n && !dpi_check_in(set, k))
        k++;
    return dpi_check_party(c, k);
}

dp_status dpi_check_refuse(const dpi_joint_check *c, size_t k, uint16_t reg, const char *what,
                           const char *more)
{
    return dpi_silo_refuse(c->p, &c->parts[k], reg, what, more, c->err);
}

/* ---- what a party sees ---- */

static const dpi_silo_clause *clause_of(const dpi_joint_check *c, size_t k, uint16_t reg)
{
    const dpi_silo_register *r = &c->parts[k].registers[reg];
    uint16_t at = dpi_silo_variable_of(c->p, r);
    const char *local = strchr(r->name, '.');
    for (size_t j = 0; at != DPI_SILO_NONE && local != NULL && j < c->scheme->n_clauses; j++) {
        const dpi_silo_clause *cl = &c->scheme->clauses[j];
        dpi_silo_role role = dpi_silo_role_of(cl->to);
        if (strcmp(cl->op, dpi_silo_ops[c->p->variables[at].op].name) == 0 &&
            strcmp(cl->value, local + 1) == 0 && role != DPI_SILO_N_ROLES &&
            dpi_check_in(dpi_silo_members(&c->p->who, role), k))
            return cl;
    }
    return NULL;
}

static dp_status list_view(dpi_joint_check *c, size_t k, uint16_t reg, const dpi_label *l,
                           uint64_t noise, const dpi_silo_clause *clause)
{
    const uint64_t owners = l->raw | l->through;
    const char *name = c->parts[k].registers[reg].name;
    for (size_t j = 0; j < c->n_views; j++)
        if (c->views[j].party == k && c->views[j].clause == clause &&
            strcmp(c->views[j].name, name) == 0) {
            c->views[j].owners |= owners;
            return DP_OK;
        }
    if (!dpi_arena_grow(c->arena, (void **)&c->views, &c->view_room, c->n_views + 1,
                        sizeof *c->views))
        return dpi_fail_nomem(c->err);
    dpi_silo_view *v = &c->views[c->n_views++];
    *v = (dpi_silo_view){.party = (uint16_t)k,
                         .owners = owners,
                         .noise = noise,
                         .alone = l->alone != 0,
                         .clause = clause};
    memcpy(v->name, name, strlen(name) + 1);
    return DP_OK;
}

bool dpi_check_is_accounted(const dpi_joint_check *c, uint16_t variable, bool alone)
{
    bool any = false;
    for (size_t j = 0; j < c->p->n_entries; j++)
        if (c->p->entries[j].variable == variable) {
            if (!(c->p->entries[j].sigma > 0) || c->p->entries[j].alone != alone)
                return false;
            any = true;
        }
    return any;
}

/* Sums with everybody's noise but this party's own, which hides nothing from it. */
static dp_status look_veiled(dpi_joint_check *c, size_t k, uint16_t reg, const dpi_label *l)
{
    if (!dpi_check_is_accounted(c, l->noise, false))
        return dpi_check_refuse(
            c, k, reg, "this party can open it, and the account has no entry for each opening of ",
            c->p->variables[l->noise].name);
    if (c->p->who.colluders == 0)
        return dpi_check_refuse(
            c, k, reg,
            "this party can open it, and the noise that is counted has its own share in "
            "it; plan for one colluder at least",
            "");
    return list_view(c, k, reg, l, l->shares, NULL);
}

/* Who is told another's share has, with its own, what it is of. */
static bool can_open(const dpi_label *l, size_t k)
{
    return l->form == DPI_LABEL_CLEAR || l->form == DPI_LABEL_OPENED ||
           ((l->form == DPI_LABEL_COLUMNS || l->form == DPI_LABEL_ANSWER) && l->key == k);
}

/* The clause that lets party k see a value: sums over records, or where the scheme's clauses are of
 * single ones, values of each. */
static const dpi_silo_clause *allowing(const dpi_joint_check *c, size_t k, uint16_t reg,
                                       const dpi_label *l)
{
    const dpi_silo_clause *clause = l->raw != 0 ? clause_of(c, k, reg) : NULL;
    return clause != NULL && (l->summed || (c->scheme->single && l->rows)) ? clause : NULL;
}

/* A value that has come to party k from elsewhere, or was opened there. */
dp_status dpi_check_look(dpi_joint_check *c, size_t k, uint16_t reg, dpi_label *l)
{
    const uint64_t known = l->form == DPI_LABEL_ANSWER ? dpi_check_only(k) : 0,
                   others = l->raw & ~dpi_check_only(k),
                   lacking = dpi_silo_everyone(&c->p->who) & ~(l->shares | known);
    if (!can_open(l, k))
        return DP_OK;
    const dpi_silo_clause *clause = allowing(c, k, reg, l);
    l->named =
        clause != NULL && (c->scheme->single || dpi_silo_role_of(clause->to) == DPI_SILO_EACH);
    if (((l->raw | l->through) & ~dpi_check_only(k)) == 0)
        return DP_OK;
    if (others == 0 || clause != NULL)
        return list_view(c, k, reg, l, dpi_silo_everyone(&c->p->who), clause);
    if (l->form == DPI_LABEL_ANSWER && dpi_label_is_veiled(&c->p->who, k, l))
        return look_veiled(c, k, reg, l);
    if (l->shares != 0 && lacking != 0)
        return dpi_check_refuse(
            c, k, reg, "this party would see it in the clear, and it lacks the share of noise of ",
            dpi_check_first(c, lacking));
    return dpi_check_refuse(
        c, k, reg,
        l->shares != 0
            ? "this party would see it in the clear, and its noise is not for what it has: "
              "what a record adds has no bound, or the shares are of other sums; it is of "
              "the records of "
            : "this party would see in the clear, with neither noise nor a clause that "
              "names it, what follows from the records of ",
        dpi_check_first(c, others));
}

/* ---- releases of one owner alone ---- */

dp_status dpi_check_release_alone(const dpi_joint_check *c, size_t k, const dpi_silo_step *s,
                                  dpi_label *l)
{
    const dpi_label *asked = &c->values[k][s->in[0]].from[k];
    const uint16_t made = dpi_silo_variable_of(c->p, &c->parts[k].registers[s->out]);
    dpi_label_make(l, s, k, asked, &c->values[k][s->in[1]].from[k], made);
    if (l->raw != 0)
        return dpi_check_refuse(
            c, k, s->out,
            asked->raw != 0 ? "what a record adds to the sums of its steps has no bound: "
                              "they are asked for by what follows from the records of "
                            : "the sums of its steps are not over this party's records, row "
                              "by row, but of those of ",
            dpi_check_first(c, l->raw));
    if (made == DPI_SILO_NONE || !dpi_check_is_accounted(c, made, true))
        return dpi_check_refuse(c, k, s->out,
                                "this party's own releases are in it, and the account has no entry "
                                "with noise for them",
                                "");
    return DP_OK;
}

/* ---- what is opened ---- */

/* What a step adds up: everybody's vectors, of which the one that adds up has its own in the clear
 * where the others' are under a key. */
static dpi_labels summands(const dpi_joint_check *c, size_t k, const dpi_silo_step *s)
{
    const bool keyed = s->kind == DPI_SILO_COMBINE;
    dpi_labels all = c->values[k][s->in[keyed ? 1 : 0]];
    if (keyed)
        all.from[k] = c->values[k][s->in[0]].from[k];
    return all;
}

/* Whether a sum that is hidden until it is opened is one owner's, less what the others know who put
 * together what they see, the one that adds up among them. */
static bool is_of_one(const dpi_joint_check *c, const dpi_silo_step *s)
{
    const size_t colluders = c->p->who.colluders > 1 ? c->p->who.colluders : 1;
    return s->kind == DPI_SILO_COMBINE && c->p->who.n < colluders + 2;
}

/* The sum of everybody's vectors, at party k. */
dp_status dpi_check_open_sum(dpi_joint_check *c, size_t k, const dpi_silo_step *s, dpi_label *l)
{
    const dpi_labels in = summands(c, k, s);
    const uint16_t noise = in.from[0].noise;
    for (size_t j = 0; j < c->p->who.n; j++) {
        l->shares |= in.from[j].shares;
        l->summed = (j == 0 || l->summed) && in.from[j].summed;
    }
    if (dpi_label_is_release(c->p->who.n, &in)) {
        if (!dpi_check_is_accounted(c, noise, false))
            return dpi_check_refuse(
                c, k, s->out,
                "it is opened with noise, and the account has no entry for each opening "
                "of ",
                c->p->variables[noise].name);
        *l = (dpi_label){
            .form = DPI_LABEL_CLEAR, .through = l->through | l->raw, .noise = DPI_SILO_NONE};
    } else if (l->raw != 0 && is_of_one(c, s)) {
        return dpi_check_refuse(c, k, s->out,
                                "it has no noise, and less what others know it is one owner's; "
                                "plan for more owners, or for fewer colluders",
                                "");
    }
    return dpi_check_look(c, k, s->out, l);
}

/* One's own part of a block and the other's answer.  Without noise it is what was seen when the
 * answer came; with it, shares of both are in one sum, or it is not opened. */
dp_status dpi_check_open_block(dpi_joint_check *c, size_t k, const dpi_silo_step *s, dpi_label *l)
{
    const dpi_label *own = &c->values[k][s->in[0]].from[k];
    const dpi_label *answer = &c->values[k][s->in[1]].from[1 - k];
    const uint64_t lacking = dpi_silo_everyone(&c->p->who) & ~(own->shares | answer->shares);
    if (answer->key != k)
        return dpi_check_refuse(c, k, s->in[1], "it can be opened by another party alone: ",
                                dpi_check_party(c, answer->key));
    l->summed = own->summed && answer->summed;
    l->named = answer->named;
    if ((own->shares | answer->shares) == 0)
        return DP_OK;
    if (lacking != 0)
        return dpi_check_refuse(c, k, s->out, "it is opened, and lacks the share of noise of ",
                                dpi_check_first(c, lacking));
    if (own->shares != dpi_check_only(k) || own->noise != answer->noise || !own->bounded ||
        !own->summed || (own->raw & ~dpi_check_only(k)) != 0)
        return dpi_check_refuse(
            c, k, s->out,
            "it is opened, and the shares of noise are of other sums than its own, or what "
            "a record adds has no bound",
            "");
    *l = (dpi_label){
        .form = DPI_LABEL_CLEAR, .through = l->through | l->raw, .noise = DPI_SILO_NONE};
    return DP_OK;
}

/* A sum over rows of one's own and of what the other has sent of each: it is of what a clause
 * names, where that is what came. */
void dpi_check_slope(const dpi_joint_check *c, size_t k, const dpi_silo_step *s, dpi_label *l)
{
    const dpi_label *rows = &c->values[k][s->in[1]].from[k];
    const dpi_label *came = &c->values[k][s->in[2]].from[1 - k];
    l->summed = rows->rows && came->rows;
    l->named = came->named;
}
