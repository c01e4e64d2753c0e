/* The table of families. */
#include "formula/family.h"

#include <string.h>

static const char *const links[] = {
    [DPI_IDENTITY] = "identity", [DPI_LOG] = "log",         [DPI_LOGIT] = "logit",
    [DPI_PROBIT] = "probit",     [DPI_CLOGLOG] = "cloglog",
};

/* ---- links ---- */

/* log(p / (1 - p)) of a chance p under its link.  Phi(x) is 0 in double from x = -38 on; what is
 * below 1e-300 counts as that, where the logit is -690.  1 - e^-t, t = e^x, is 2 h / (1 + h) with
 * h = tanh(t / 2), which keeps the digits of a small t. */
static dpi_value logit_of(dpi_writer *w, dpi_link link, dpi_value x)
{
    const dpi_value least = dpi_write_number(w, 1e-300);
    if (link == DPI_LOGIT)
        return x;
    x = dpi_write_let(w, "x", x);
    if (link == DPI_PROBIT) {
        const dpi_value p = DPI_WRITE1(w, dp_normal_cdf, x),
                        q = DPI_WRITE1(w, dp_normal_cdf, DPI_WRITE1(w, dp_neg, x));
        return DPI_WRITE2(w, dp_sub, DPI_WRITE1(w, dp_log, DPI_WRITE2(w, dp_max, p, least)),
                          DPI_WRITE1(w, dp_log, DPI_WRITE2(w, dp_max, q, least)));
    }
    const dpi_value t = dpi_write_let(w, "t", DPI_WRITE1(w, dp_exp, x));
    const dpi_value h = dpi_write_let(w, "h", DPI_WRITE1(w, dp_tanh, dpi_write_scaled(w, .5, t)));
    const dpi_value p = DPI_WRITE2(w, dp_sub, DPI_WRITE1(w, dp_log, dpi_write_scaled(w, 2, h)),
                                   DPI_WRITE1(w, dp_log1p, h));
    return DPI_WRITE2(w, dp_add, p, t);
}

dpi_value dpi_link_inverse(dpi_writer *w, dpi_link link, dpi_value x)
{
    switch (link) {
    case DPI_IDENTITY:
        break;
    case DPI_LOG:
        return DPI_WRITE1(w, dp_exp, x);
    case DPI_LOGIT:
    case DPI_CLOGLOG:
        return DPI_WRITE1(w, dp_logistic, logit_of(w, link, x));
    case DPI_PROBIT:
        return DPI_WRITE1(w, dp_normal_cdf, x);
    }
    return x;
}

/* ---- distributions ---- */

static dpi_value mean_of(dpi_writer *w, const dpi_law_parts *p)
{
    return dpi_link_inverse(w, p->link, p->mean);
}

static dpi_written_law gaussian(dpi_writer *w, const dpi_law_parts *p)
{
    return DPI_LAW2(w, dp_normal_v, mean_of(w, p), p->parameter[0]);
}

static dpi_written_law student(dpi_writer *w, const dpi_law_parts *p)
{
    return dpi_write_law3(w, "dp_student_t_v", dp_student_t_v, p->parameter[1], mean_of(w, p),
                          p->parameter[0]);
}

static dpi_written_law lognormal(dpi_writer *w, const dpi_law_parts *p)
{
    return DPI_LAW2(w, dp_log_normal_v, p->mean, p->parameter[0]);
}

static dpi_written_law gamma_by_mean(dpi_writer *w, const dpi_law_parts *p)
{
    const dpi_value shape = p->parameter[0],
                    less = DPI_WRITE1(w, dp_exp, DPI_WRITE1(w, dp_neg, p->mean));
    return DPI_LAW2(w, dp_gamma_v, shape, DPI_WRITE2(w, dp_mul, shape, less));
}

/* By its scale, which has a linear logarithm in survreg too; the mean is scale times
 * Gamma(1 + 1 / shape). */
static dpi_written_law weibull(dpi_writer *w, const dpi_law_parts *p)
{
    return DPI_LAW2(w, dp_weibull_v, p->parameter[0], DPI_WRITE1(w, dp_exp, p->mean));
}

static dpi_written_law exponential(dpi_writer *w, const dpi_law_parts *p)
{
    return DPI_LAW1(w, dp_exponential_v, DPI_WRITE1(w, dp_exp, DPI_WRITE1(w, dp_neg, p->mean)));
}

static dpi_written_law beta_by_mean(dpi_writer *w, const dpi_law_parts *p)
{
    const dpi_value logit = dpi_write_let(w, "logit", logit_of(w, p->link, p->mean)),
                    rest = DPI_WRITE1(w, dp_neg, logit), phi = p->parameter[0];
    return DPI_LAW2(w, dp_beta_v, DPI_WRITE2(w, dp_mul, phi, DPI_WRITE1(w, dp_logistic, logit)),
                    DPI_WRITE2(w, dp_mul, phi, DPI_WRITE1(w, dp_logistic, rest)));
}

static dpi_written_law bernoulli(dpi_writer *w, const dpi_law_parts *p)
{
    return DPI_LAW1(w, dp_bernoulli_logit, logit_of(w, p->link, p->mean));
}

static dpi_written_law binomial(dpi_writer *w, const dpi_law_parts *p)
{
    return DPI_LAW2(w, dp_binomial_logit, p->trials, logit_of(w, p->link, p->mean));
}

static dpi_written_law poisson(dpi_writer *w, const dpi_law_parts *p)
{
    return DPI_LAW1(w, dp_poisson_log, p->mean);
}

static dpi_written_law negbinomial(dpi_writer *w, const dpi_law_parts *p)
{
    return DPI_LAW2(w, dp_negative_binomial_log, p->mean, p->parameter[0]);
}

static dpi_written_law zero_inflated_poisson(dpi_writer *w, const dpi_law_parts *p)
{
    return DPI_WITH_ZEROS(w, dp_zero_inflated, poisson(w, p), p->parameter[0]);
}

static dpi_written_law zero_inflated_negbinomial(dpi_writer *w, const dpi_law_parts *p)
{
    return DPI_WITH_ZEROS(w, dp_zero_inflated, negbinomial(w, p), p->parameter[1]);
}

static dpi_written_law zero_inflated_binomial(dpi_writer *w, const dpi_law_parts *p)
{
    return DPI_WITH_ZEROS(w, dp_zero_inflated, binomial(w, p), p->parameter[0]);
}

static dpi_written_law hurdle_poisson(dpi_writer *w, const dpi_law_parts *p)
{
    return DPI_WITH_ZEROS(w, dp_hurdle, poisson(w, p), p->parameter[0]);
}

static dpi_written_law hurdle_negbinomial(dpi_writer *w, const dpi_law_parts *p)
{
    return DPI_WITH_ZEROS(w, dp_hurdle, negbinomial(w, p), p->parameter[1]);
}

static dpi_written_law hurdle_gamma(dpi_writer *w, const dpi_law_parts *p)
{
    return DPI_WITH_ZEROS(w, dp_hurdle, gamma_by_mean(w, p), p->parameter[1]);
}

static dpi_written_law hurdle_lognormal(dpi_writer *w, const dpi_law_parts *p)
{
    return DPI_WITH_ZEROS(w, dp_hurdle, lognormal(w, p), p->parameter[1]);
}

/* The mean is e^-logit. */
static dpi_written_law geometric(dpi_writer *w, const dpi_law_parts *p)
{
    return DPI_LAW1(w, dp_geometric_logit, DPI_WRITE1(w, dp_neg, p->mean));
}

static dpi_written_law cumulative(dpi_writer *w, const dpi_law_parts *p)
{
    return p->link == DPI_PROBIT ? DPI_LAW2(w, dp_ordered_probit, p->mean, p->thresholds)
                                 : DPI_LAW2(w, dp_ordered_logistic, p->mean, p->thresholds);
}

static dpi_written_law categorical(dpi_writer *w, const dpi_law_parts *p)
{
    return DPI_LAW1(w, dp_categorical_logit, p->mean);
}

/* ---- the table ---- */

/* clang-format off */
static const dpi_response_family families[] = {
    {"gaussian",    DPI_OUTCOME_REAL,     2, {DPI_IDENTITY, DPI_LOG},
     1, {{"sigma", DPI_LOG, true, "half_normal", {1}}}, gaussian, false,
     "normal with mean mu and standard deviation sigma"},
    {"student",     DPI_OUTCOME_REAL,     1, {DPI_IDENTITY},
     2, {{"sigma", DPI_LOG, true, "half_normal", {1}}, {"nu", DPI_LOG, false, "gamma", {2, .1}}},
     student, false,
     "Student's t with nu degrees of freedom, moved by mu and scaled by sigma"},
    {"lognormal",   DPI_OUTCOME_POSITIVE, 1, {DPI_IDENTITY},
     1, {{"sigma", DPI_LOG, false, "half_normal", {1}}}, lognormal, false,
     "e to a normal number with mean mu and standard deviation sigma"},
    {"gamma",       DPI_OUTCOME_POSITIVE, 1, {DPI_LOG},
     1, {{"shape", DPI_LOG, false, "lognormal", {1, 1.5}}}, gamma_by_mean, false,
     "gamma with mean mu and this shape: variance mu^2/shape"},
    {"weibull",     DPI_OUTCOME_POSITIVE, 1, {DPI_LOG},
     1, {{"shape", DPI_LOG, false, "lognormal", {0, 1}}}, weibull, false,
     "Weibull with scale mu and this shape: mean mu Gamma(1 + 1/shape)"},
    {"exponential", DPI_OUTCOME_POSITIVE, 1, {DPI_LOG},
     0, {{0}}, exponential, false,
     "exponential with mean mu"},
    {"beta",        DPI_OUTCOME_SHARE,    3, {DPI_LOGIT, DPI_PROBIT, DPI_CLOGLOG},
     1, {{"phi", DPI_LOG, false, "lognormal", {1, 1.5}}}, beta_by_mean, false,
     "beta with mean mu and precision phi: variance mu (1 - mu)/(1 + phi)"},
    {"bernoulli",   DPI_OUTCOME_BINARY,   3, {DPI_LOGIT, DPI_PROBIT, DPI_CLOGLOG},
     0, {{0}}, bernoulli, false,
     "1 with chance mu, else 0"},
    {"binomial",    DPI_OUTCOME_COUNT,    3, {DPI_LOGIT, DPI_PROBIT, DPI_CLOGLOG},
     0, {{0}}, binomial, true,
     "a number of successes out of the trials, each with chance mu"},
    {"poisson",     DPI_OUTCOME_COUNT,    1, {DPI_LOG},
     0, {{0}}, poisson, false,
     "Poisson with mean mu"},
    {"negbinomial", DPI_OUTCOME_COUNT,    1, {DPI_LOG},
     1, {{"shape", DPI_LOG, false, "lognormal", {1, 1.5}}}, negbinomial, false,
     "negative binomial with mean mu and this shape: variance mu + mu^2/shape"},
    {"geometric",   DPI_OUTCOME_COUNT,    1, {DPI_LOG},
     0, {{0}}, geometric, false,
     "geometric with mean mu: variance mu + mu^2"},
    {"zero_inflated_poisson", DPI_OUTCOME_COUNT, 1, {DPI_LOG},
     1, {{"zi", DPI_LOGIT, false, "beta", {1, 1}}}, zero_inflated_poisson, false,
     "0 with chance zi, else Poisson with mean mu"},
    {"zero_inflated_negbinomial", DPI_OUTCOME_COUNT, 1, {DPI_LOG},
     2, {{"shape", DPI_LOG, false, "lognormal", {1, 1.5}},
         {"zi", DPI_LOGIT, false, "beta", {1, 1}}},
     zero_inflated_negbinomial, false,
     "0 with chance zi, else negative binomial with mean mu and this shape"},
    {"zero_inflated_binomial", DPI_OUTCOME_COUNT, 3, {DPI_LOGIT, DPI_PROBIT, DPI_CLOGLOG},
     1, {{"zi", DPI_LOGIT, false, "beta", {1, 1}}}, zero_inflated_binomial, true,
     "0 with chance zi, else a number of successes out of the trials, each with chance mu"},
    {"hurdle_poisson", DPI_OUTCOME_COUNT, 1, {DPI_LOG},
     1, {{"hu", DPI_LOGIT, false, "beta", {1, 1}}}, hurdle_poisson, false,
     "0 with chance hu, else Poisson above 0, with mean mu before it is cut"},
    {"hurdle_negbinomial", DPI_OUTCOME_COUNT, 1, {DPI_LOG},
     2, {{"shape", DPI_LOG, false, "lognormal", {1, 1.5}},
         {"hu", DPI_LOGIT, false, "beta", {1, 1}}},
     hurdle_negbinomial, false,
     "0 with chance hu, else negative binomial above 0, with mean mu and this shape before it is "
     "cut"},
    {"hurdle_gamma", DPI_OUTCOME_POSITIVE, 1, {DPI_LOG},
     2, {{"shape", DPI_LOG, false, "lognormal", {1, 1.5}},
         {"hu", DPI_LOGIT, false, "beta", {1, 1}}},
     hurdle_gamma, false,
     "0 with chance hu, else gamma with mean mu and this shape"},
    {"hurdle_lognormal", DPI_OUTCOME_POSITIVE, 1, {DPI_IDENTITY},
     2, {{"sigma", DPI_LOG, false, "half_normal", {1}}, {"hu", DPI_LOGIT, false, "beta", {1, 1}}},
     hurdle_lognormal, false,
     "0 with chance hu, else e to a normal number with mean mu and standard deviation sigma"},
    {"categorical", DPI_OUTCOME_CATEGORY, 1, {DPI_LOGIT},
     0, {{0}}, categorical, false,
     "a level, each one against the first with log odds mu of its own"},
    {"cumulative",  DPI_OUTCOME_ORDERED,  2, {DPI_LOGIT, DPI_PROBIT},
     0, {{0}}, cumulative, false,
     "one of ordered levels, up to level k with chance p_k"},
};
/* clang-format on */

enum { N_FAMILIES = sizeof families / sizeof families[0] };

const char *dpi_link_name(dpi_link link)
{
    return links[link];
}

/* "gaussian, student, ...", those with zeros of their own in short: messages have an end. */
static const char *list_families(dpi_arena *arena)
{
    dpi_bytes text = {0};
    for (size_t i = 0; i < N_FAMILIES; i++) {
        if (strchr(families[i].name, '_') != NULL)
            continue;
        dpi_text_add(&text, i > 0 ? ", " : "");
        dpi_text_add(&text, families[i].name);
    }
    dpi_text_add(&text, "; zero_inflated_ before poisson, negbinomial and binomial; hurdle_ before "
                        "poisson, negbinomial, gamma and lognormal");
    const char *list = dpi_text_take(&text, arena);
    return list != NULL ? list : "";
}

static const char *list_links(const dpi_response_family *family, dpi_arena *arena)
{
    dpi_bytes text = {0};
    for (size_t i = 0; i < family->n_links; i++) {
        dpi_text_add(&text, i > 0 ? ", " : "");
        dpi_text_add(&text, links[family->link[i]]);
    }
    const char *list = dpi_text_take(&text, arena);
    return list != NULL ? list : "";
}

static dp_status take_link(const dpi_script *s, const dpi_tree *call, dpi_arena *arena,
                           dpi_response *response)
{
    const dpi_response_family *family = response->family;
    const dpi_tree *link = call->first;
    response->link = family->link[0];
    if (link == NULL)
        return DP_OK;
    if (link->kind != DPI_TREE_NAME || link->next != NULL ||
        (link->label != NULL && strcmp(link->label, "link") != 0))
        return dpi_script_fail(s, DP_EINVAL, link->at,
                               "a family has one argument, its link: %s(%s)", family->name,
                               links[family->link[0]]);
    for (size_t i = 0; i < family->n_links; i++)
        if (strcmp(links[family->link[i]], link->name) == 0) {
            response->link = family->link[i];
            return DP_OK;
        }
    return dpi_script_fail(s, DP_EINVAL, link->at, "the family %s has no link '%.40s'; it has %s",
                           family->name, link->name, list_links(family, arena));
}

dp_status dpi_response_parse(const char *text, dpi_arena *arena, dpi_response *response,
                             dp_error *err)
{
    const dpi_script script = {.text = text, .size = strlen(text), .err = err};
    dpi_tree *call;
    *response = (dpi_response){0};
    const dp_status status = dpi_parse_call(&script, arena, &call);
    if (status != DP_OK)
        return status;
    for (size_t i = 0; i < N_FAMILIES; i++)
        if (strcmp(families[i].name, call->name) == 0)
            response->family = &families[i];
    if (response->family == NULL)
        return dpi_script_fail(&script, DP_EINVAL, call->at, "no family '%.40s'; there are %s",
                               call->name, list_families(arena));
    return take_link(&script, call, arena, response);
}
