/* What a part must be before its labels are looked at. */
#include <string.h>

#include "base/error.h"
#include "silo/check.h"
#include "silo/split.h"

uint16_t dpi_silo_variable_of(const dpi_silo_program *p, const dpi_silo_register *r)
{
    return dpi_silo_find(p, r->name, strcspn(r->name, "."));
}

dp_status dpi_silo_refuse(const dpi_silo_program *p, const dpi_silo_part *part, uint16_t reg,
                          const char *what, const char *more, dp_error *err)
{
    const dpi_silo_register *r = &part->registers[reg];
    const char *party = p->who.names[part->party];
    uint16_t at = dpi_silo_variable_of(p, r);
    if (at == DPI_SILO_NONE)
        return dpi_fail(err, DP_EPRIVACY, "%s: %s: %s%s", party, r->name, what, more);
    const dpi_silo_variable *v = &p->variables[at];
    const dpi_silo_op_row *op = &dpi_silo_ops[v->op];
    return dpi_fail(err, DP_EPRIVACY, "%s: %s (%s = %s%s %s%s%s): %s%s", party, r->name, v->name,
                    v->marked ? "s_" : "", op->name,
                    op->args > 0 ? p->variables[v->arg[0]].name : "", op->args > 1 ? " " : "",
                    op->args > 1 ? p->variables[v->arg[1]].name : "", what, more);
}

static bool is_letter(dpi_silo_step_kind kind)
{
    return kind == DPI_SILO_SEND || kind == DPI_SILO_RECV;
}

/* Registers have a name each, and what steps make has the size that they make. */
static dp_status check_registers(const dpi_silo_program *p, const dpi_silo_part *part,
                                 dp_error *err)
{
    for (size_t r = 0; r < part->n_registers; r++)
        for (size_t q = 0; q < r; q++)
            if (strcmp(part->registers[q].name, part->registers[r].name) == 0)
                return dpi_silo_refuse(p, part, (uint16_t)r, "two registers have this name", "",
                                       err);
    for (size_t j = 0; j < part->n_steps; j++) {
        const dpi_silo_step *s = &part->steps[j];
        const dpi_silo_register *r = &part->registers[s->out];
        dpi_silo_register made = {.words = 0};
        if (is_letter(s->kind))
            continue;
        dpi_silo_lay(s->kind, p->who.n, &made);
        if (!dpi_silo_same_size(r, &made))
            return dpi_silo_refuse(p, part, s->out, "its size is not that of what is made by ",
                                   dpi_silo_step_name(s->kind), err);
    }
    return DP_OK;
}

/* Steps are of registers and parties that there are. */
static dp_status check_steps(const dpi_silo_program *p, const dpi_silo_part *part, size_t k,
                             dp_error *err)
{
    bool good =
        part->party == k && part->parties == p->who.n && part->aggregator == p->who.aggregator;
    for (size_t j = 0; good && j < part->n_steps; j++) {
        const dpi_silo_step *s = &part->steps[j];
        good = s->kind < DPI_SILO_N_STEPS && s->out < part->n_registers &&
               (!is_letter(s->kind) || (s->peer < p->who.n && s->peer != k)) &&
               (!s->may_lack || (s->kind == DPI_SILO_RECV && p->who.dropouts > 0)) &&
               (!s->once || dpi_silo_has_columns(part) || dpi_silo_has_key(part) ||
                dpi_silo_has_shares(part));
        for (int a = 0; good && !is_letter(s->kind) && a < dpi_silo_step_args(s->kind); a++)
            good = s->in[a] < part->n_registers;
    }
    return good ? DP_OK
                : dpi_fail(err, DP_EPRIVACY, "the part of %s has steps of nothing, or is another's",
                           p->who.names[k]);
}

/* Masks are of one vector a step: two would be hidden by the same numbers.  Keys are told once, and
 * under the only set that there is. */
static dp_status check_once(const dpi_silo_program *p, const dpi_silo_part *part,
                            dpi_silo_step_kind kind, const char *what, dp_error *err)
{
    bool seen = false;
    for (size_t j = 0; j < part->n_steps; j++) {
        if (part->steps[j].kind != kind)
            continue;
        if (seen)
            return dpi_silo_refuse(p, part, part->steps[j].out, what, "", err);
        seen = true;
    }
    return DP_OK;
}

/* Whether a step takes what an interpreter puts into the register of the host's last step: this
 * owner's sum with its share of the noise, its parameters or what it offers, so that step must be
 * of the program's sum, noise, walk or offer. */
static bool is_handed_over(const dpi_silo_program *p, const dpi_silo_part *part,
                           const dpi_silo_step *last, const dpi_silo_step *takes)
{
    const uint16_t opened = dpi_silo_variable_of(p, &part->registers[takes->out]);
    return (last->kind == DPI_SILO_DGAUSS || last->kind == DPI_SILO_ISUM ||
            last->kind == DPI_SILO_WALK || last->kind == DPI_SILO_OFFER) &&
           takes->in[0] == last->out && opened != DPI_SILO_NONE &&
           p->variables[opened].op == DPI_SILO_OP_REVEAL &&
           strcmp(part->registers[last->out].name,
                  p->variables[p->variables[opened].arg[0]].name) == 0;
}

/* The steps between the host's first and its last are the protocol's, and work on the host's last
 * result alone: that register is the one that an interpreter fills. */
static dp_status check_order(const dpi_silo_program *p, const dpi_silo_part *part, dp_error *err)
{
    size_t begin = 0, end;
    while (begin < part->n_steps && dpi_silo_step_is_host(part->steps[begin].kind))
        begin++;
    end = begin;
    while (end < part->n_steps && !dpi_silo_step_is_host(part->steps[end].kind))
        end++;
    for (size_t j = end; j < part->n_steps; j++)
        if (!dpi_silo_step_is_host(part->steps[j].kind))
            return dpi_silo_refuse(p, part, part->steps[j].out,
                                   "a second opening in one step has no masks of its own", "", err);
    for (size_t j = begin; j < end; j++) {
        const dpi_silo_step *s = &part->steps[j];
        const bool takes = s->kind == DPI_SILO_MASK || s->kind == DPI_SILO_PLAIN ||
                           s->kind == DPI_SILO_SEALED || s->kind == DPI_SILO_COMBINE;
        if (takes && (begin == 0 || !is_handed_over(p, part, &part->steps[begin - 1], s)))
            return dpi_silo_refuse(p, part, s->in[0],
                                   "this is not the sum that was computed last, which alone is "
                                   "handed over",
                                   "", err);
        if (s->kind == DPI_SILO_ROSTER && part->party != part->aggregator)
            return dpi_silo_refuse(p, part, s->out, "sets are named by the one that adds up alone",
                                   "", err);
    }
    return DP_OK;
}

dp_status dpi_silo_check_parts(const dpi_silo_program *p, const dpi_silo_part *parts, dp_error *err)
{
    static const struct {
        dpi_silo_step_kind kind;
        const char *what;
    } once[] = {
        {DPI_SILO_MASK, "a second vector would be hidden by the masks of the first"},
        {DPI_SILO_ROSTER,
         "a second set would be named, and keys be told under another than signed"},
        {DPI_SILO_UNLOCK, "masks of one step would be told twice"},
        {DPI_SILO_KEYPART, "a run has one key, and this would be a second"},
        {DPI_SILO_SEALED, "a second vector would be encrypted in one step"},
        {DPI_SILO_COVER, "a second vector would be covered in one step"},
        {DPI_SILO_AGREE, "owners would agree on vectors twice in one step"},
        {DPI_SILO_PARTIAL, "a second sum would be opened in one step"},
        {DPI_SILO_COMBINE, "a second sum would be opened in one step"},
        {DPI_SILO_ENCRYPT, "columns are encrypted once"},
        {DPI_SILO_ANSWER, "a second answer would be given in one step"},
        {DPI_SILO_VEIL, "a second answer would be given in one step, with other noise"},
        {DPI_SILO_SHROUD, "a second share of the noise would be given in one step"},
    };
    dp_status status = DP_OK;
    for (size_t k = 0; k < p->who.n && status == DP_OK; k++) {
        status = check_steps(p, &parts[k], k, err);
        if (status == DP_OK)
            status = check_registers(p, &parts[k], err);
        for (size_t j = 0; status == DP_OK && j < sizeof once / sizeof *once; j++)
            status = check_once(p, &parts[k], once[j].kind, once[j].what, err);
        if (status == DP_OK && dpi_silo_has_columns(&parts[k]))
            status = dpi_silo_check_columns(p, &parts[k], err);
        if (status == DP_OK && dpi_silo_has_shares(&parts[k]))
            status = dpi_silo_check_share_part(p, &parts[k], err);
        if (status == DP_OK && dpi_silo_has_key(&parts[k]))
            status = dpi_silo_check_key(p, &parts[k], err);
    }
    return status;
}

dp_status dpi_silo_check_order(const dpi_silo_program *p, const dpi_silo_part *parts, dp_error *err)
{
    dp_status status = DP_OK;
    for (size_t k = 0; k < p->who.n && status == DP_OK; k++)
        if (!dpi_silo_has_columns(&parts[k]) && !dpi_silo_has_shares(&parts[k]))
            status = check_order(p, &parts[k], err);
    return status;
}
