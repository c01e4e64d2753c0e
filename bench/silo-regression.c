/* A whole step of a regression over columns of two owners, who are threads: everything that a run
 * does, letters in memory.
 *   make bench/silo-regression
 *   bench/silo-regression [rows columns columns [z]]      (100 392 392 9.6; z 0: without noise)
 * One JSON line: milliseconds of each owner's processor a step, median and least of 40 steps after
 * the first, and of what is done before it. */
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "silo/columns.h"
#include "silo/joint.h"
#include "silo/split.h"

enum { STEPS = 41 };

typedef struct bench_owner {
    size_t k;
    double before, at[STEPS + 1]; /* seconds of this thread's processor */
    size_t n;
    dp_status status;
    dp_error err;
} bench_owner;

static bench_owner owners_of[2];
static dpi_columns_terms terms;
static size_t rows;
static dpi_letter_box *box;
static char names[2][DPI_SILO_NAME] = {"north", "south"};
static unsigned char publics[2][DPI_SILO_PUBLIC], secrets[2][DPI_SILO_SECRET];
static dpi_silo_part parts[DPI_SILO_PARTIES];

static double processor(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void note(void *of, uint64_t step, const dpi_columns_grid *grid, size_t d, const int64_t *h)
{
    bench_owner *o = of;
    (void)step;
    (void)grid;
    (void)d;
    (void)h;
    if (o->n <= STEPS)
        o->at[o->n++] = processor();
}

static void *act(void *of)
{
    bench_owner *o = of;
    const size_t d = terms.columns[o->k];
    dpi_carrier *carrier = NULL;
    dpi_post *post = NULL;
    dpi_columns_state *state = NULL;
    const unsigned char records[32] = {0};
    double *x = calloc(rows * d, sizeof *x), *y = calloc(rows, sizeof *y);
    double *w = calloc(d, sizeof *w);
    for (size_t i = 0; x != NULL && i < rows * d; i++)
        x[i] = ((double)(i * 7919 % 32768) / 16384 - 1) * .03;
    for (size_t i = 0; y != NULL && i < rows; i++)
        y[i] = i % 3 == 0 ? 1 : -1;
    o->status = x != NULL && y != NULL && w != NULL ? dpi_carrier_memory(box, &carrier, &o->err)
                                                    : DP_ENOMEM;
    const dpi_post_opts post_opts = {.carrier = carrier,
                                     .party = o->k,
                                     .parties = 2,
                                     .names = names,
                                     .publics = publics,
                                     .secret = secrets[o->k]};
    if (o->status == DP_OK)
        o->status = dpi_columns_state_new(NULL, &post_opts, records, &state, &o->err);
    if (o->status == DP_OK)
        o->status = dpi_columns_state_meet(state, &post_opts, &post, &o->err);
    const dpi_columns_run_opts opts = {.terms = &terms,
                                       .part = &parts[o->k],
                                       .post = post,
                                       .state = state,
                                       .rows = rows,
                                       .x = x,
                                       .y = y,
                                       .opened = note,
                                       .of = o};
    o->before = processor();
    if (o->status == DP_OK)
        o->status = dpi_columns_run(&opts, w, &o->err);
    dpi_post_close(post);
    dpi_columns_state_free(state);
    if (carrier != NULL)
        carrier->kind->close(carrier);
    free(x);
    free(y);
    free(w);
    return NULL;
}

static dp_status plan(dpi_arena *arena, dp_error *err)
{
    dpi_silo_parties who = {.n = 2, .colluders = 1, .most_records = 1000};
    const dpi_joint_columns c = {.times = terms.steps, .numbers = 1, .z = terms.z, .delta = 1e-5};
    dpi_silo_program p;
    memcpy(who.names, names, sizeof names);
    dp_status status = dpi_silo_joint_columns(&p, &who, &c, err);
    return status == DP_OK
               ? dpi_silo_split(&p, dpi_silo_scheme_named(terms.z > 0 ? "columns+dp" : "columns"),
                                arena, parts, err)
               : status;
}

static void tell(const char *who, const bench_owner *o)
{
    char name[64];
    double steps[STEPS];
    const size_t n = o->n - 1;
    for (size_t i = 0; i < n; i++)
        steps[i] = o->at[i + 1] - o->at[i];
    const double median = bench_median(steps, n);
    (void)snprintf(name, sizeof name, "%s_step_ms", who);
    bench_number(name, 1e3 * median);
    (void)snprintf(name, sizeof name, "%s_step_low", who);
    bench_number(name, 1e3 * steps[0]);
    (void)snprintf(name, sizeof name, "%s_begin_ms", who);
    bench_number(name, 1e3 * (o->at[0] - o->before - median));
}

int main(int argc, char **argv)
{
    dpi_arena arena = {NULL};
    dp_error err = {0};
    pthread_t threads[2];
    rows = argc > 3 ? strtoul(argv[1], NULL, 10) : 100;
    terms = (dpi_columns_terms){.logistic = true,
                                .outcome = 1,
                                .columns = {argc > 3 ? strtoul(argv[2], NULL, 10) : 392,
                                            argc > 3 ? strtoul(argv[3], NULL, 10) : 392},
                                .row_most = {1, 1},
                                .addend_most = {1, 1},
                                .steps = STEPS,
                                .step = 1,
                                .z = argc > 4 ? strtod(argv[4], NULL) : 9.6};
    dp_status status = sodium_init() >= 0 ? dpi_letter_box_new(&box, &err) : DP_EENTROPY;
    if (status == DP_OK)
        status = plan(&arena, &err);
    for (size_t k = 0; k < 2 && status == DP_OK; k++) {
        owners_of[k].k = k;
        (void)crypto_sign_keypair(publics[k], secrets[k]);
    }
    for (size_t k = 0; k < 2 && status == DP_OK; k++)
        if (pthread_create(&threads[k], NULL, act, &owners_of[k]) != 0)
            return 1;
    for (size_t k = 0; k < 2 && status == DP_OK; k++)
        (void)pthread_join(threads[k], NULL);
    for (size_t k = 0; k < 2; k++)
        if (status != DP_OK || owners_of[k].status != DP_OK) {
            (void)fprintf(stderr, "%s%s\n", err.text, owners_of[k].err.text);
            return 1;
        }
    printf("{\"bench\": \"silo-regression\", \"rows\": %zu, \"columns\": [%zu, %zu], \"z\": %g, ",
           rows, terms.columns[0], terms.columns[1], terms.z);
    tell("first", &owners_of[0]);
    tell("outcomes", &owners_of[1]);
    bench_end_line();
    dpi_letter_box_free(box);
    dpi_arena_free(&arena);
    return 0;
}
