/* What a part that opens sums under a key must be.
 *
 * The one that adds up has what opens single vectors, were it not for the key: it must own no share
 * of it, and see nothing that has a hand in it.  The others own the key, which is made once in a
 * run; of each sum they seal, cover and open one vector, the same.  Who sees what of it is said by
 * the forms of labels.c. */
#include "base/error.h"
#include "silo/check.h"

static bool is_letter(dpi_silo_step_kind kind)
{
    return kind == DPI_SILO_SEND || kind == DPI_SILO_RECV;
}

/* The first step of a kind; NULL. */
static const dpi_silo_step *step_of(const dpi_silo_part *part, dpi_silo_step_kind kind)
{
    for (size_t j = 0; j < part->n_steps; j++)
        if (part->steps[j].kind == kind)
            return &part->steps[j];
    return NULL;
}

/* Whose step it is. */
static dp_status check_role(const dpi_silo_program *p, const dpi_silo_part *part,
                            const dpi_silo_step *s, dp_error *err)
{
    const bool adds_up = part->party == part->aggregator;
    if (!dpi_silo_step_is_of_key(s->kind) || adds_up == (s->kind == DPI_SILO_COMBINE))
        return DP_OK;
    return dpi_silo_refuse(p, part, s->out,
                           adds_up
                               ? "the one that adds up must own no share of the key, with which "
                                 "it could open single vectors; it has a step "
                               : "sums under a key are for the one that adds up, and this "
                                 "party owns a share of it; it has a step ",
                           dpi_silo_step_name(s->kind), err);
}

/* The key is made and told once, and nothing else is. */
static dp_status check_times(const dpi_silo_program *p, const dpi_silo_part *part,
                             const dpi_silo_step *s, dp_error *err)
{
    const dpi_silo_step *key = step_of(part, DPI_SILO_KEYPART);
    const bool of_key =
        s->kind == DPI_SILO_KEYPART || (is_letter(s->kind) && key != NULL && s->out == key->out);
    if (s->once == of_key)
        return DP_OK;
    return dpi_silo_refuse(p, part, s->out,
                           of_key ? "a run has one key, and this would be another in every step: "
                                  : "it is done once, and is another in every step: ",
                           dpi_silo_step_name(s->kind), err);
}

/* What is covered is what was sealed. */
static dp_status check_vector(const dpi_silo_program *p, const dpi_silo_part *part, dp_error *err)
{
    const dpi_silo_step *seals = step_of(part, DPI_SILO_SEALED),
                        *covers = step_of(part, DPI_SILO_COVER);
    if (seals == NULL || covers == NULL || seals->in[0] == covers->in[0])
        return DP_OK;
    return dpi_silo_refuse(p, part, covers->out, "another vector is covered than was sealed", "",
                           err);
}

dp_status dpi_silo_check_key(const dpi_silo_program *p, const dpi_silo_part *part, dp_error *err)
{
    dp_status status = DP_OK;
    for (size_t j = 0; j < part->n_steps && status == DP_OK; j++) {
        const dpi_silo_step *s = &part->steps[j];
        if (dpi_silo_step_is_of_key(s->kind) && p->who.dropouts > 0)
            return dpi_silo_refuse(p, part, s->out,
                                   "it is opened by all owners of the key, of whom none may drop "
                                   "out; plan without dropouts",
                                   "", err);
        status = check_role(p, part, s, err);
        if (status == DP_OK)
            status = check_times(p, part, s, err);
    }
    return status == DP_OK ? check_vector(p, part, err) : status;
}
