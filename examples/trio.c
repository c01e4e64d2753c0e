/* A logistic regression over columns of the same people at a clinic and a registry, who show them
 * neither to each other nor to the third party that helps: "trio FOLDER 700 EPSILON" makes the
 * folder, each party is a process, and they meet at ports 7000 and 7001.  EPSILON 0 is without
 * noise: then nothing is opened but the coefficients, and each owner prints its own. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tacit/silo-trio.h>
#include <tacit/tacit.h>
#include <unistd.h>

enum { PEOPLE = 4000, D = 2 };
static const char *const names[] = {"clinic", "registry", "helper"};
static double x[2][PEOPLE][D], y[PEOPLE], odds[PEOPLE];

static dp_status draw(dp_error *err)
{
    dp_rng *rng;
    dp_status status = dp_rng_new(7, &rng, err);
    if (status != DP_OK)
        return status;
    dp_rng_uniform(rng, sizeof x / sizeof(double), &x[0][0][0]);
    dp_rng_uniform(rng, PEOPLE, odds);
    dp_rng_free(rng);
    for (int i = 0; i < PEOPLE; i++) {
        for (int j = 0; j < 2 * D; j++)
            x[j / D][i][j % D] = 2 * x[j / D][i][j % D] - 1;
        y[i] = dp_logistic(dp_num(3 * x[0][i][0] - 2 * x[0][i][1] + x[1][i][0])).value > odds[i];
    }
    return DP_OK;
}

int main(int argc, char **argv)
{
    dp_error err = {0};
    char port[2][16];
    double w[2 * D];
    dp_identity *who[3];
    if (umask(077), argc != 4 || mkdir(argv[1], 0700) || chdir(argv[1]))
        return fprintf(stderr, "trio: give a folder that is not there yet, a port, epsilon\n"), 2;
    const double epsilon = strtod(argv[3], NULL);
    const dp_silo_trio terms = {.name = "town, November",
                                .logistic = true,
                                .rows = PEOPLE,
                                .outcome = 1, /* at the registry */
                                .columns = {D, D},
                                .row_most = {1.5, 1.5},
                                .steps = 60,
                                .step = 1.5,
                                .epsilon = epsilon,
                                .delta = epsilon * 1e-6};
    dp_silo_trio_opts opts = {.patience_ms = 20000};
    int bad = draw(&err) != DP_OK, end, me = -1;
    for (int k = 0; k < 3 && !bad; k++) {
        bad = dp_identity_new(names[k], &who[k], &err) != DP_OK;
        (void)snprintf(port[k % 2], sizeof port[0], "%.10s%d", argv[2], k % 2);
        opts.party[k] = (dp_silo_trio_party){.host = "127.0.0.1",
                                             .port = k < 2 ? port[k] : NULL,
                                             .fingerprint =
                                                 bad ? NULL : dp_identity_fingerprint(who[k]),
                                             .name = names[k]};
    }
    if (bad)
        return fprintf(stderr, "trio: %s\n", err.text), 1;
    for (int k = 0; k < 3 && me < 0; k++)
        me = fork() == 0 ? k : -1;
    for (int k = 0; k < 3 && me < 0; k++)
        bad |= wait(&end) < 0 || end != 0;
    if (me >= 0) {
        const dp_silo_trio_data mine = {
            .rows = me < 2 ? PEOPLE : 0, .x = me < 2 ? x[me][0] : NULL, .y = me == 1 ? y : NULL};
        size_t rows;
        opts.identity = who[me];
        bad = dp_silo_trio_run(&terms, &opts, &mine, &rows, w, &err);
        if (bad)
            (void)fprintf(stderr, "trio: %s: %s\n", names[me], err.text);
        else
            bad = printf("%s: %.3f %.3f %.3f %.3f\n", names[me], w[0], w[1], w[2], w[3]) < 0;
    }
    dp_identity_free(who[0]), dp_identity_free(who[1]), dp_identity_free(who[2]);
    return bad;
}
