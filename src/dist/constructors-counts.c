/* The public constructors of families of counts and ordered categories. */
#include <tacit/dist.h>

#include "dist/family.h"

static dp_dist of_two(const dpi_family *family, dp_expr first, dp_expr second)
{
    return (dp_dist){.family = family, .arg = {first, second, dp_num(0)}};
}

dp_dist dp_negative_binomial_log(dp_expr log_mean, dp_expr dispersion)
{
    return of_two(&dpi_negative_binomial_log, log_mean, dispersion);
}

dp_dist dp_negative_binomial(dp_expr mean, dp_expr dispersion)
{
    return of_two(&dpi_negative_binomial, mean, dispersion);
}

dp_dist dp_beta_binomial(dp_expr trials, dp_expr mean, dp_expr precision)
{
    return (dp_dist){.family = &dpi_beta_binomial, .arg = {trials, mean, precision}};
}

dp_dist dp_multinomial_logit(dp_expr trials, dp_expr logits)
{
    return of_two(&dpi_multinomial_logit, trials, logits);
}

dp_dist dp_dirichlet_multinomial(dp_expr trials, dp_expr concentration)
{
    return of_two(&dpi_dirichlet_multinomial, trials, concentration);
}

dp_dist dp_geometric_logit(dp_expr logit)
{
    return of_two(&dpi_geometric_logit, logit, dp_num(0));
}
