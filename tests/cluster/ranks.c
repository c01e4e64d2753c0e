/* The scene by the ranks of MPI that it is started by, or by threads: what comes out, as a hash.
 *
 *     ranks CARDS [THREADS | fail]
 *
 * prints nothing on ranks but the first; `fail`: the last step of the last card fails. */
#include "cluster/ranks.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cluster/scene.h"

static dp_status run_ranks(const dpi_plan_job *job, size_t threads, dp_error *err)
{
    (void)threads;
    return dpi_run_ranks(job, MPI_COMM_WORLD, err);
}

static dpi_card_kind inner;
static uint32_t bad;

static dp_status fail_at(void *self, size_t worker, const dpi_plan *p, const dpi_step *s,
                         const void *const *in, void *out, dp_error *err)
{
    if (s->out != bad)
        return inner.compute(self, worker, p, s, in, out, err);
    *err = (dp_error){.status = DP_EDOMAIN, .text = "the step fails"};
    return DP_EDOMAIN;
}

static dp_status run_and_fail(const dpi_plan_job *job, size_t threads, dp_error *err)
{
    dpi_plan_job own = *job;
    (void)threads;
    inner = own.kind;
    own.kind.compute = fail_at;
    for (size_t k = 0; k < job->p->n_steps; k++)
        if (job->p->step[k].op != DPI_OP_MESSAGE && job->p->step[k].card == job->p->cards - 1)
            bad = job->p->step[k].out;
    return dpi_run_ranks(&own, MPI_COMM_WORLD, err);
}

static void print_hash(const card_scene *s, const dpi_ckks_cipher *y)
{
    unsigned char hash[16];
    char text[2 * sizeof hash + 1];
    crypto_generichash_state h;
    (void)crypto_generichash_init(&h, NULL, 0, sizeof hash);
    for (size_t k = 0; k < 2; k++)
        (void)crypto_generichash_update(&h, (const unsigned char *)y->part[k],
                                        (y->level + 1) * dpi_ckks_n(s->t.c) * sizeof(uint64_t));
    (void)crypto_generichash_final(&h, hash, sizeof hash);
    (void)puts(sodium_bin2hex(text, sizeof text, hash, sizeof hash));
}

int main(int argc, char **argv)
{
    static card_scene s;
    dpi_ckks_cipher y = {0};
    dpi_plan p;
    dp_error err = {0};
    uint32_t result;
    int rank = 0, level = MPI_THREAD_FUNNELED;
    size_t cards = argc > 1 ? (size_t)atoi(argv[1]) : 0;
    const bool fails = argc > 2 && strcmp(argv[2], "fail") == 0, threads = argc > 2 && !fails;
    if (cards < 1 || cards > DPI_PLAN_CARDS)
        return 2;
    if (!threads &&
        (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS ||
         level < MPI_THREAD_FUNNELED || MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS))
        return 2;
    card_scene_begin(&s);
    card_scene_plan(&p, &s, cards, &result);
    dp_status status = dpi_ckks_cipher_new(s.t.c, DEPTH, &y, &err);
    if (status == DP_OK)
        status = card_scene_value(&s, &p, result, threads ? (size_t)atoi(argv[2]) : 1,
                                  threads ? dpi_run_threads
                                  : fails ? run_and_fail
                                          : run_ranks,
                                  rank == 0 ? &y : NULL, &err);
    if (status == DP_OK && rank == 0)
        print_hash(&s, &y);
    if (status != DP_OK)
        (void)printf("rank %d: %d: %s\n", rank, (int)status, err.text);
    (void)fflush(stdout);
    dpi_ckks_cipher_free(&y);
    dpi_plan_free(&p);
    card_scene_end(&s);
    if (!threads)
        (void)MPI_Finalize();
    return status == DP_OK ? 0 : 1;
}
