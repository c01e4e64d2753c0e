/* A plan as it is handed out, and for people. */
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/error.h"
#include "infer/plan.h"

void dp_plan_free(dp_plan *plan)
{
    if (plan == NULL)
        return;
    dpi_arena_free(&plan->arena);
    dpi_free(plan);
}

const dp_plan_number *dp_plan_numbers(const dp_plan *plan, size_t *n)
{
    *n = plan->n;
    return plan->numbers;
}

double dp_plan_hopeless(const dp_plan *plan)
{
    return (double)plan->hopeless / (double)plan->fitted;
}

/* ---- for people ---- */

enum {
    LISTED = 12, /* most numbers of a latent that all have lines */
    LEAST_WIDTH = 12,
    NUMBER = 32 /* room for one in words */
};

typedef struct plan_page {
    FILE *to;
    int width;
    bool good;
} plan_page;

static void say(plan_page *p, const char *format, ...) DPI_PRINTF(2, 3);

static void say(plan_page *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    p->good = vfprintf(p->to, format, args) >= 0 && p->good;
    va_end(args);
}

/* With a point in every locale. */
static void put(plan_page *p, int digits, double x)
{
    char text[NUMBER];
    (void)snprintf(text, sizeof text, "%.*g", digits, x);
    char *comma = strchr(text, ',');
    if (comma != NULL)
        *comma = '.';
    say(p, " %10s", isinf(x) ? "none" : text);
}

static void put_row(plan_page *p, const dp_plan_number *k)
{
    say(p, "%-*s", p->width, k->name);
    put(p, 2, k->prior_sd);
    put(p, 2, k->sd);
    put(p, 2, k->sd_private);
    put(p, 2, k->error);
    put(p, 2, k->epsilon);
    put(p, 2, k->records);
    say(p, "\n");
}

/* Those with the least, the middle and the greatest noise, where there are many. */
static dp_status put_latent(plan_page *p, size_t n, const dp_plan_number *first, dp_error *err)
{
    size_t *order = dpi_alloc(n, sizeof *order);
    double *noise = dpi_alloc(n, sizeof *noise);
    if (order == NULL || noise == NULL) {
        dpi_free(order);
        dpi_free(noise);
        return dpi_fail_nomem(err);
    }
    for (size_t e = 0; e < n; e++) {
        order[e] = e;
        noise[e] = first[e].noise;
    }
    if (n > LISTED) {
        gsl_sort_index(order, noise, 1, n);
        order[1] = order[n / 2];
        order[2] = order[n - 1];
    }
    for (size_t e = 0; e < (n > LISTED ? 3 : n); e++)
        put_row(p, &first[order[e]]);
    if (n > LISTED)
        say(p, "  of %zu, with the least, middle and greatest noise\n", n);
    dpi_free(order);
    dpi_free(noise);
    return DP_OK;
}

dp_status dp_plan_print(const dp_plan *plan, FILE *to, dp_error *err)
{
    plan_page p = {.to = to, .width = LEAST_WIDTH, .good = true};
    const dp_plan_number *k = plan->numbers;
    dp_status status = DP_OK;
    for (size_t e = 0; e < plan->n; e++)
        if (strlen(k[e].name) > (size_t)p.width)
            p.width = (int)strlen(k[e].name);
    say(&p, "plan: epsilon %g at delta %g, %zu records; %zu of %zu invented data sets fitted\n",
        plan->epsilon, plan->delta, plan->records, plan->fitted, plan->simulations);
    say(&p, "%-*s %10s %10s %10s %10s %10s %10s\n", p.width, "", "prior sd", "sd", "private sd",
        "error", "epsilon", "or records");
    for (size_t l = 0; l < plan->n_latents && status == DP_OK; k += plan->sizes[l], l++)
        status = put_latent(&p, plan->sizes[l], k, err);
    if (status != DP_OK)
        return status;
    say(&p, "\nsd, private sd: of the answer without and with privacy.  error: of its mean by "
            "privacy, in sds.\nepsilon, or records: with which that would be about 1.\n");
    if (plan->hopeless > 0)
        say(&p, "HOPELESS in %zu of %zu: the noise hides what so many records tell\n",
            plan->hopeless, plan->fitted);
    p.good = fflush(to) == 0 && p.good;
    return p.good ? DP_OK : dpi_fail(err, DP_EIO, "the plan could not be written to the end");
}
