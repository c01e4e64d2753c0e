/* What is known of shares of three parties, and what a part on them must be.
 *
 * A party's share tells it nothing of the value; a second one tells all of it.  So what is dealt is
 * sent, each getting its own; what is computed on shares is not, until it is disclosed; and what is
 * disclosed is looked at where it comes, like anything in the clear: it is a release, or a clause
 * names it.  That any two parties together have all rows is in no label: there is one
 * colluder, or the part is refused. */
#include "base/error.h"
#include "silo/check-inside.h"

/* ---- labels ---- */

/* Rows of all owners: each of one person where all are. */
static void gather(const dpi_joint_check *c, const dpi_labels *in, dpi_label *l)
{
    l->rows = l->bounded = true;
    for (size_t j = 0; j < c->p->who.n; j++)
        if (dpi_check_in(dpi_silo_owners(&c->p->who), j)) {
            l->rows = l->rows && in->from[j].rows;
            l->bounded = l->bounded && in->from[j].bounded;
        }
}

/* What is added must be the noise of each, and nothing else. */
static dp_status blend(const dpi_joint_check *c, size_t k, const dpi_silo_step *s,
                       const dpi_label *sum, dpi_label *l)
{
    const dpi_labels *in = &c->values[k][s->in[1]];
    l->bounded = sum->bounded;
    l->summed = sum->summed;
    for (size_t j = 0; j < c->p->who.n; j++) {
        if (in->from[j].shares != dpi_check_only(j) || in->from[j].raw != 0)
            return dpi_check_refuse(c, k, s->in[1],
                                    "what is added to the sum is not the share of noise of ",
                                    dpi_check_party(c, j));
        l->shares |= dpi_check_only(j);
    }
    l->noise = in->from[0].noise;
    return DP_OK;
}

/* What a party's share tells as soon as another party has it: that is looked at where it comes, as
 * everything is that can be read there.  With the noise of all it is a release. */
static dp_status disclose(const dpi_joint_check *c, size_t k, const dpi_silo_step *s,
                          const dpi_label *first, dpi_label *l)
{
    l->rows = first->rows;
    l->bounded = first->bounded;
    l->summed = first->summed;
    l->value = first->value;
    l->shares = first->shares;
    l->noise = first->noise;
    if (first->shares != dpi_silo_everyone(&c->p->who) || !first->bounded || !first->summed)
        return DP_OK;
    if (!dpi_check_is_accounted(c, first->noise, false))
        return dpi_check_refuse(c, k, s->out,
                                "it is opened with noise, and the account has no entry for each "
                                "opening of ",
                                c->p->variables[first->noise].name);
    l->through |= l->raw;
    l->raw = l->shares = 0;
    return DP_OK;
}

static dp_status join(const dpi_joint_check *c, size_t k, const dpi_silo_step *s, dpi_label *l)
{
    const dpi_labels *in = &c->values[k][s->in[0]];
    for (size_t j = 0; j < c->p->who.n; j++)
        if (in->from[j].value != in->from[k].value)
            return dpi_check_refuse(c, k, s->in[0],
                                    "shares of different values are joined; another one is that "
                                    "of ",
                                    dpi_check_party(c, j));
    l->summed = in->from[k].summed;
    return DP_OK;
}

dp_status dpi_check_shares(dpi_joint_check *c, size_t k, const dpi_silo_step *s, dpi_label *l)
{
    const dpi_labels *in = c->values[k];
    const dpi_label *first = &in[s->in[0]].from[k], *second = &in[s->in[1]].from[k];
    const uint16_t made = dpi_silo_variable_of(c->p, &c->parts[k].registers[s->out]);
    l->value = made;
    switch (s->kind) {
    case DPI_SILO_DEAL:
        l->rows = first->rows;
        l->bounded = first->bounded;
        return DP_OK;
    case DPI_SILO_GATHER:
        gather(c, &in[s->in[0]], l);
        return DP_OK;
    case DPI_SILO_RESIDUAL: /* of coefficients, and rows */
        l->rows = second->rows;
        l->bounded = second->bounded && first->raw == 0;
        return DP_OK;
    case DPI_SILO_TALLY:
        dpi_label_multiply(l, first, second);
        return DP_OK;
    case DPI_SILO_SHROUD:
        l->shares = dpi_check_only(k);
        l->noise = made;
        return DP_OK;
    case DPI_SILO_BLEND:
        return blend(c, k, s, first, l);
    case DPI_SILO_DESCEND: /* of all rows at once: what one adds has no bound */
        l->summed = first->rows;
        return DP_OK;
    case DPI_SILO_DISCLOSE:
        return disclose(c, k, s, first, l);
    default:
        return join(c, k, s, l);
    }
}

/* ---- parts ---- */

static bool belongs(dpi_silo_step_kind kind)
{
    return dpi_silo_step_is_of_shares(kind) || kind == DPI_SILO_BOUND || kind == DPI_SILO_ADVANCE ||
           kind == DPI_SILO_SEND || kind == DPI_SILO_RECV;
}

dp_status dpi_silo_check_share_part(const dpi_silo_program *p, const dpi_silo_part *part,
                                    dp_error *err)
{
    enum { PARTIES = 3 };
    dp_status status = DP_OK;
    if (p->who.n != PARTIES || p->who.colluders != 1 || p->who.dropouts != 0)
        return dpi_fail(err, DP_EPRIVACY,
                        "shares are of three parties, of whom any two together have all rows, and "
                        "all are needed; this program is of %u, %zu colluders and %zu dropouts",
                        p->who.n, p->who.colluders, p->who.dropouts);
    for (size_t j = 0; j < part->n_steps && status == DP_OK; j++) {
        const dpi_silo_step *s = &part->steps[j];
        if (!belongs(s->kind))
            return dpi_silo_refuse(p, part, s->out, "a part on shares has no step ",
                                   dpi_silo_step_name(s->kind), err);
        if ((s->kind == DPI_SILO_DEAL || s->kind == DPI_SILO_GATHER) && !s->once)
            return dpi_silo_refuse(p, part, s->out, "rows are shared once, and not anew by ",
                                   "every step", err);
        if (s->once)
            status = dpi_silo_check_reads(p, part, j, err);
    }
    return status;
}
