#include "tests/silo/trio-town.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "wire/socket.h"

town_side town_sides[3];
dp_identity *town_who[3];
char town_folder[64], town_ledger[96];
double town_x[2][TOWN_N * TOWN_D0], town_y[TOWN_N];

static char path[3][96], port[2][16];

static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

int town_make(void **state)
{
    uint64_t seed = 3;
    (void)state;
    (void)strcpy(town_folder, "/tmp/tacit-trio-XXXXXX");
    assert_non_null(mkdtemp(town_folder));
    (void)snprintf(town_ledger, sizeof town_ledger, "%s/ledger", town_folder);
    for (size_t k = 0; k < 3; k++) {
        dp_error err = {DP_OK, ""};
        (void)snprintf(path[k], sizeof path[k], "%s/%zu", town_folder, k);
        assert_ok(dp_identity_new(path[k], &town_who[k], &err), err.text);
    }
    for (size_t i = 0; i < TOWN_N; i++) {
        double score = .1 * draw(&seed);
        for (size_t j = 0; j < TOWN_D; j++) {
            const size_t owner = j < TOWN_D0 ? 0 : 1,
                         at = owner == 0 ? i * TOWN_D0 + j : i * TOWN_D1 + j - TOWN_D0;
            town_x[owner][at] = draw(&seed) / 2;
            score += town_x[owner][at] * ((double)j - 1.5);
        }
        town_y[i] = score / 2;
    }
    return 0;
}

int town_clear(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        dp_identity_free(town_who[k]);
        (void)unlink(path[k]);
    }
    (void)unlink(town_ledger);
    (void)rmdir(town_folder);
    return 0;
}

/* Ports that are free, and most likely still are when they are listened at. */
static void find_ports(void)
{
    int sockets[2];
    for (int k = 0; k < 2; k++) {
        assert_int_equal(dpi_socket_listen("127.0.0.1", "0", &sockets[k], NULL), DP_OK);
        (void)snprintf(port[k], sizeof port[k], "%d", dpi_socket_port(sockets[k]));
    }
    for (int k = 0; k < 2; k++)
        (void)close(sockets[k]);
}

/* Two owners, the second of whom has outcomes, and a helper. */
void town_set_up(double epsilon)
{
    static int runs;
    static char name[32];
    find_ports();
    (void)snprintf(name, sizeof name, "run %d", ++runs);
    for (size_t k = 0; k < 3; k++) {
        town_sides[k] = (town_side){.terms = {.name = name,
                                              .rows = TOWN_N,
                                              .outcome = 1,
                                              .columns = {TOWN_D0, TOWN_D1, 0},
                                              .row_most = {1, 1, 0},
                                              .outcome_most = 2,
                                              .residual_most = epsilon > 0 ? 1 : 0,
                                              .steps = 20,
                                              .step = .5,
                                              .ridge = .01,
                                              .epsilon = epsilon,
                                              .delta = epsilon > 0 ? 1e-5 : 0},
                                    .opts = {.identity = town_who[k], .patience_ms = TOWN_PATIENCE},
                                    .data = {.rows = k < 2 ? TOWN_N : 0,
                                             .x = k < 2 ? town_x[k] : NULL,
                                             .y = k == 1 ? town_y : NULL}};
        for (size_t j = 0; j < 3; j++)
            town_sides[k].opts.party[j] =
                (dp_silo_trio_party){.host = "127.0.0.1",
                                     .port = j < 2 ? port[j] : NULL,
                                     .fingerprint = dp_identity_fingerprint(town_who[j])};
    }
    town_sides[2].opts.party[2].host = NULL;
}

double town_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void *town_act(void *of)
{
    town_side *s = of;
    if (s->late)
        (void)usleep(300 * MS);
    memset(s->w, 1, sizeof s->w);
    s->err = (dp_error){DP_OK, ""};
    s->status = dp_silo_trio_run(&s->terms, &s->opts, &s->data, &s->rows, s->w, &s->err);
    return NULL;
}

void town_run(void)
{
    pthread_t threads[3];
    for (int k = 0; k < 3; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, town_act, &town_sides[k]), 0);
    for (int k = 0; k < 3; k++)
        (void)pthread_join(threads[k], NULL);
}

void town_run_well(void)
{
    town_run();
    for (int k = 0; k < 3; k++)
        assert_ok(town_sides[k].status, town_sides[k].err.text);
}

void town_assert_nothing(const town_side *s)
{
    assert_int_equal(s->rows, 0);
    for (size_t j = 0; j < TOWN_D; j++)
        assert_true(s->w[j] == 0);
}

void town_solve(size_t n, double w[TOWN_D])
{
    memset(w, 0, TOWN_D * sizeof *w);
    for (int k = 0; k < 20; k++) {
        double g[TOWN_D] = {0};
        for (size_t i = 0; i < n; i++) {
            double r = -town_y[i];
            for (size_t j = 0; j < TOWN_D; j++)
                r += w[j] * (j < TOWN_D0 ? town_x[0][i * TOWN_D0 + j]
                                         : town_x[1][i * TOWN_D1 + j - TOWN_D0]);
            for (size_t j = 0; j < TOWN_D; j++)
                g[j] += r * (j < TOWN_D0 ? town_x[0][i * TOWN_D0 + j]
                                         : town_x[1][i * TOWN_D1 + j - TOWN_D0]);
        }
        for (size_t j = 0; j < TOWN_D; j++)
            w[j] -= .5 * (g[j] / (double)n + .01 * w[j]);
    }
}
