/* What a part with encrypted columns must be.
 *
 * Columns that have left cannot be taken back: they are of what never changes, and leave once.  An
 * answer is made of them and of this step's addends, one a step.  One's own share of noise is drawn
 * behind the other's answer, from which it follows (columns-run.c).  There are two owners, so that
 * what is another's is the other's.  Nothing else is hidden there: masks and sums of owners are of
 * other parts. */
#include <string.h>

#include "base/error.h"
#include "silo/check.h"

static bool is_of_columns(dpi_silo_step_kind kind)
{
    return kind == DPI_SILO_BOUND || kind == DPI_SILO_ADDEND || kind == DPI_SILO_INNER ||
           kind == DPI_SILO_ENCRYPT || kind == DPI_SILO_ANSWER || kind == DPI_SILO_VEIL ||
           kind == DPI_SILO_UNVEIL || kind == DPI_SILO_EMBED || kind == DPI_SILO_ADJOINT ||
           kind == DPI_SILO_SLOPE || kind == DPI_SILO_PULLBACK;
}

bool dpi_silo_has_columns(const dpi_silo_part *part)
{
    for (size_t j = 0; j < part->n_steps && !dpi_silo_has_shares(part); j++)
        if (is_of_columns(part->steps[j].kind))
            return true;
    return false;
}

static bool is_letter(dpi_silo_step_kind kind)
{
    return kind == DPI_SILO_SEND || kind == DPI_SILO_RECV;
}

/* Whether a register is an input that is the same in every step. */
static bool is_fixed(const dpi_silo_program *p, const dpi_silo_register *r)
{
    const uint16_t at = dpi_silo_find(p, r->name, strlen(r->name));
    bool fixed = at != DPI_SILO_NONE && p->variables[at].op == DPI_SILO_OP_INPUT;
    for (size_t k = 0; fixed && k < p->n_carried; k++)
        fixed = p->carried[k].input != at;
    return fixed;
}

/* Whether all that makes a register, up to a step, is done once. */
static bool is_made_once(const dpi_silo_part *part, uint16_t reg, size_t before)
{
    bool made = false;
    for (size_t j = 0; j < before; j++)
        if (part->steps[j].out == reg && part->steps[j].kind != DPI_SILO_SEND) {
            if (!part->steps[j].once)
                return false;
            made = true;
        }
    return made;
}

/* Whether a letter of every step has come before a step. */
static bool is_answered(const dpi_silo_part *part, size_t before)
{
    for (size_t j = 0; j < before; j++)
        if (part->steps[j].kind == DPI_SILO_RECV && !part->steps[j].once)
            return true;
    return false;
}

dp_status dpi_silo_check_reads(const dpi_silo_program *p, const dpi_silo_part *part, size_t j,
                               dp_error *err)
{
    const dpi_silo_step *s = &part->steps[j];
    if (s->kind == DPI_SILO_SEND && !is_made_once(part, s->out, j))
        return dpi_silo_refuse(p, part, s->out, "it is sent once, and is another in every step", "",
                               err);
    for (int a = 0; !is_letter(s->kind) && a < dpi_silo_step_args(s->kind); a++)
        if (!is_fixed(p, &part->registers[s->in[a]]) && !is_made_once(part, s->in[a], j))
            return dpi_silo_refuse(p, part, s->in[a],
                                   "it is another in every step, and is read once by ",
                                   dpi_silo_step_name(s->kind), err);
    return DP_OK;
}

dp_status dpi_silo_check_columns(const dpi_silo_program *p, const dpi_silo_part *part,
                                 dp_error *err)
{
    dp_status status = DP_OK;
    if (p->who.n != 2)
        return dpi_fail(err, DP_EPRIVACY,
                        "columns of the same people are of two owners, and this program is of %u",
                        p->who.n);
    for (size_t j = 0; j < part->n_steps && status == DP_OK; j++) {
        const dpi_silo_step *s = &part->steps[j];
        if (!is_of_columns(s->kind) && !is_letter(s->kind) && s->kind != DPI_SILO_DGAUSS &&
            s->kind != DPI_SILO_ADVANCE)
            return dpi_silo_refuse(p, part, s->out, "a part of columns has no step ",
                                   dpi_silo_step_name(s->kind), err);
        if (s->kind == DPI_SILO_ENCRYPT && !s->once)
            return dpi_silo_refuse(p, part, s->out, "columns are encrypted once, and not anew by ",
                                   "every step", err);
        if (s->kind == DPI_SILO_DGAUSS && !is_answered(part, j))
            return dpi_silo_refuse(p, part, s->out,
                                   "its share of the noise is drawn before the other's answer has "
                                   "come, and would hide a sum with another one as well",
                                   "", err);
        if (s->once)
            status = dpi_silo_check_reads(p, part, j, err);
    }
    return status;
}
