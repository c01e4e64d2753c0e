/* Lists of mechanisms as terms.  Gaussian releases without sampling add up to one: sums of squares
 * of their mu (Dong, Roth, Su, JRSS B 2022, corollary 3.3).  However many there are, the sum errs by
 * 2u besides the 4u of a square, and mu by 4u, a half of bound.c's 2^-50. */
#include "accountant/answers/composition.h"

#include <math.h>

#include "accountant/answers/check.h"
#include "base/alloc.h"
#include "base/error.h"
#include "num/linalg.h"

dp_adjacency dpi_adjacency_of(const dp_mechanism *m)
{
    if (m->adjacency != DP_ADJACENCY_OF_SAMPLING)
        return m->adjacency;
    bool replaces = m->sampling == DP_SAMPLING_FIXED || m->noise == DP_NOISE_RANDOMISED_RESPONSE;
    return replaces ? DP_REPLACE_ONE : DP_ADD_REMOVE;
}

int dpi_composition_directions(const dp_mechanism *list)
{
    return dpi_adjacency_of(list) == DP_ADD_REMOVE ? 2 : 1;
}

bool dpi_composition_has_gap(const dp_mechanism *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].sampling == DP_SAMPLING_FIXED || list[i].sampling == DP_SAMPLING_TRUNCATED ||
            list[i].sampling == DP_SAMPLING_ALLOCATION)
            return true;
    return false;
}

dp_status dpi_check_list(const dp_mechanism *list, size_t n, dp_error *err)
{
    if (n == 0)
        return dpi_fail(err, DP_EDOMAIN, "the list of mechanisms is empty; give at least one");
    for (size_t i = 0; i < n; i++) {
        dp_status status = dpi_check_mechanism(&list[i], err);
        if (status != DP_OK)
            return status;
        if (dpi_adjacency_of(&list[i]) != dpi_adjacency_of(&list[0]))
            return dpi_fail(
                err, DP_EMISMATCH,
                "mechanism %zu speaks of one record %s, the first of one record %s; "
                "give all of them the same adjacency",
                i + 1, dpi_adjacency_of(&list[i]) == DP_ADD_REMOVE ? "more or less" : "replaced",
                dpi_adjacency_of(&list[0]) == DP_ADD_REMOVE ? "more or less" : "replaced");
    }
    return DP_OK;
}

static dp_status fill(const dp_mechanism *list, size_t n, dpi_direction direction, dpi_side side,
                      dpi_composition *c, dp_error *err)
{
    double squares = 0, lost = 0;
    bool normal = true;
    for (size_t i = 0; i < n; i++) {
        double times;
        dp_status status = dpi_pair_of(&list[i], direction, side, &c->pair[i], &times, err);
        if (status != DP_OK)
            return status;
        c->n = i + 1;
        c->term[i] = (dpi_pair_times){&c->pair[i], times};
        normal = normal && c->pair[i].normal_mu > 0;
        const double square = times * c->pair[i].normal_mu * c->pair[i].normal_mu;
        dpi_add_compensated(1, &square, &squares, &lost);
    }
    c->normal_mu = normal ? sqrt(squares) : 0;
    return DP_OK;
}

dp_status dpi_composition_new(const dp_mechanism *list, size_t n, dpi_direction direction,
                              dpi_side side, dpi_composition *c, dp_error *err)
{
    *c = (dpi_composition){0};
    c->term = dpi_alloc(n, sizeof *c->term);
    c->pair = dpi_alloc(n, sizeof *c->pair);
    dp_status status = c->term == NULL || c->pair == NULL ? dpi_fail_nomem(err)
                                                          : fill(list, n, direction, side, c, err);
    if (status != DP_OK)
        dpi_composition_free(c);
    return status;
}

void dpi_composition_free(dpi_composition *c)
{
    for (size_t i = 0; i < c->n; i++)
        dpi_pair_free(&c->pair[i]);
    dpi_free(c->pair);
    dpi_free(c->term);
    *c = (dpi_composition){0};
}
