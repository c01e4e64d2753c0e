/* Computing and messages side by side: cards that compute nothing but wait, and send for real.
 *
 *     mpirun -n CARDS bench/ranks [KERNELS [SECONDS [MIB [RUNS]]]]
 *
 * Each of KERNELS tasks, as many as cards or more, takes SECONDS, and its result goes to all
 * others.  A JSON line: the median over runs of computing alone, of messages alone, and of both;
 * what the simulator says of both, at the bandwidth at which it says of messages alone what was
 * measured, and likewise of computing; and how long one message takes at it.  The aim is
 * 1.15 max(computing, messages) and one message. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "cluster/ranks.h"
#include "cluster/simulate.h"

enum { MOST_RUNS = 31, MOST_KERNELS = 4096 };

typedef struct virtual_cards {
    size_t bytes;
    double seconds;
} virtual_cards;

static size_t bytes(const void *self, uint32_t level)
{
    (void)level;
    return ((const virtual_cards *)self)->bytes;
}

/* The last byte of a result is its value: of the last one, how many have arrived. */
static dp_status wait_for(void *self, size_t worker, const dpi_plan *p, const dpi_step *s,
                          const void *const *in, void *out, dp_error *err)
{
    const virtual_cards *v = self;
    (void)worker, (void)p, (void)err;
    unsigned char sum = s->n_in == 0;
    for (uint32_t i = 0; i < s->n_in; i++)
        sum = (unsigned char)(sum + ((const unsigned char *)in[i])[v->bytes - 1]);
    ((unsigned char *)out)[v->bytes - 1] = sum;
    const double seconds = s->seconds;
    const struct timespec t = {.tv_sec = (time_t)seconds,
                               .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    (void)nanosleep(&t, NULL);
    return DP_OK;
}

/* Rounds of a kernel a card, each followed by an exchange where `sends`; at the end the first card
 * reads all that it has. */
static uint32_t make_plan(dpi_plan *p, size_t cards, size_t kernels, double seconds, bool sends)
{
    uint32_t made[MOST_KERNELS];
    size_t n = 0;
    dpi_plan_begin(p, cards);
    for (size_t k = 0; k < kernels; k++) {
        const dpi_step s = {.op = DPI_OP_WORK, .card = (uint32_t)(k % cards), .seconds = seconds};
        const uint32_t out = dpi_plan_do(p, s, 0, NULL);
        if (sends || s.card == 0)
            made[n++] = out;
        if (sends && s.card == cards - 1)
            dpi_plan_exchange(p, 0, (uint32_t)cards, made + n - cards);
    }
    return dpi_plan_do(p, (dpi_step){.op = DPI_OP_WORK}, n, made);
}

static double time_plan(virtual_cards *v, int rank, size_t cards, size_t kernels, double seconds,
                        bool sends, size_t runs)
{
    double found[MOST_RUNS];
    dpi_plan p;
    dp_error err = {0};
    const uint32_t result = make_plan(&p, cards, kernels, seconds, sends);
    unsigned char *to = malloc(v->bytes);
    const void **input = calloc(p.n_values, sizeof *input);
    const dpi_plan_job job = {.p = &p,
                              .kind = {.self = v, .bytes = bytes, .compute = wait_for},
                              .input = input,
                              .result = result,
                              .to = to};
    const unsigned char expected = (unsigned char)(sends ? kernels : kernels / cards);
    for (size_t k = 0; k <= runs; k++) { /* the first one warms up */
        const double begun = bench_now();
        if (to == NULL || input == NULL || dpi_run_ranks(&job, MPI_COMM_WORLD, &err) != DP_OK) {
            (void)fprintf(stderr, "ranks: %s\n", err.text);
            (void)MPI_Abort(MPI_COMM_WORLD, 1);
        }
        found[k > 0 ? k - 1 : 0] = bench_now() - begun;
        if (rank == 0 && to[v->bytes - 1] != expected) {
            (void)fprintf(stderr, "ranks: not all results have come\n");
            (void)MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    free(to);
    free(input);
    dpi_plan_free(&p);
    return bench_median(found, runs);
}

static double simulated(size_t cards, size_t kernels, double seconds, double size, double bandwidth)
{
    dpi_plan p;
    dpi_times times = {0};
    const dpi_costs costs = {.bytes = size, .bandwidth = bandwidth};
    (void)make_plan(&p, cards, kernels, seconds, true);
    if (dpi_simulate(&p, &costs, &times, NULL) != DP_OK)
        times.total = -1;
    dpi_plan_free(&p);
    return times.total;
}

static double argument(int argc, char **argv, int k, double otherwise)
{
    return argc > k ? strtod(argv[k], NULL) : otherwise;
}

int main(int argc, char **argv)
{
    int rank, ranks, level;
    const double mib = argument(argc, argv, 3, 20), seconds = argument(argc, argv, 2, .2);
    size_t kernels = (size_t)argument(argc, argv, 1, 16), runs = (size_t)argument(argc, argv, 4, 3);
    virtual_cards v = {.bytes = (size_t)(mib * 1048576)};
    if (kernels < 1 || kernels > MOST_KERNELS || runs < 1 || runs > MOST_RUNS || !(mib > 0) ||
        mib > 1024 || !(seconds >= 0) || seconds > 60)
        return 2;
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS ||
        level < MPI_THREAD_FUNNELED || MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
        MPI_Comm_size(MPI_COMM_WORLD, &ranks) != MPI_SUCCESS)
        return 2;
    const size_t cards = (size_t)ranks;
    if (cards > DPI_PLAN_CARDS || kernels < cards)
        return 2;
    kernels -= kernels % cards;
    const double computing = time_plan(&v, rank, cards, kernels, seconds, false, runs);
    const double sending = time_plan(&v, rank, cards, kernels, 0, true, runs);
    const double both = time_plan(&v, rank, cards, kernels, seconds, true, runs);
    /* Messages alone take as much as the simulator says at this bandwidth. */
    const double bandwidth =
        simulated(cards, kernels, 0, (double)v.bytes, (double)v.bytes) * (double)v.bytes / sending;
    const double message = (double)v.bytes / bandwidth;
    const double larger = computing > sending ? computing : sending;
    if (rank == 0) {
        (void)printf("{\"bench\": \"ranks\", \"cards\": %zu, \"kernels\": %zu, \"mib\": %g, ",
                     cards, kernels, mib);
        bench_number("kernel_s", seconds);
        bench_number("computing_s", computing);
        bench_number("sending_s", sending);
        bench_number("both_s", both);
        bench_number("message_s", message);
        bench_number("over_the_larger", (both - message) / larger);
        bench_number("simulated_over_measured",
                     simulated(cards, kernels, computing * (double)cards / (double)kernels,
                               (double)v.bytes, bandwidth) /
                         both);
        bench_end_line();
        (void)fflush(stdout);
    }
    (void)MPI_Finalize();
    return 0;
}
