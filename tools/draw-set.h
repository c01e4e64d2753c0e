/* Draws of all that a fit knows of no record: latents, and what is computed of them. */
#ifndef TOOLS_DRAW_SET_H
#define TOOLS_DRAW_SET_H

#include <tacit/groups.h>

enum { MOST_DIMS = 4, MOST_DRAWN = 1 << 27 }; /* numbers that are held of all draws */

typedef struct draw_variable {
    const char *name; /* the fit's */
    size_t size, n_dims, dim[MOST_DIMS];
    dp_groups by;   /* what the one dimension stands for, where that is groups */
    double *values; /* [draws][size] */
} draw_variable;

typedef struct draw_set {
    size_t n_draws, n;
    draw_variable *variable; /* [n] in the order of the fit */
} draw_set;

/* The variables of the fit at these draws.  Of a fit that tells a formula latents of unit size,
 * "scaled.<name>", are left out unless `all` is set.
 *   schema  nullable: the fit's (dp_groups_schema), which must outlive the set
 * DP_EUNSUPPORTED the fit has none; DP_EDOMAIN they are more than MOST_DRAWN numbers; DP_ENOMEM;
 * the set is empty then.  Computed values are added to the fit as expressions. */
dp_status draw_set_make(dp_fit *fit, const dp_draws *draws, const dp_schema *schema, bool all,
                        draw_set *set, dp_error *err);

void draw_set_free(draw_set *set);

#endif
