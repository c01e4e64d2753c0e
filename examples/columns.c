/* A logistic regression over columns of the same people at two owners, of whom neither shows the
 * other its columns: "columns SCHEME FOLDER", with schemes columns+dp and columns.  The folder is
 * made, and each owner is a process of its own in it.  Each prints the coefficients of its columns;
 * nobody has both but who is shown them. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tacit/silo.h>
#include <tacit/tacit.h>
#include <unistd.h>

enum { PEOPLE = 4000, D = 2 };
static const char *const keys[] = {"clinic.key", "registry.key"};
static const char *const states[] = {"clinic.state", "registry.state"};
static double x[2][PEOPLE][D], y[PEOPLE], odds[PEOPLE];
static char ids[PEOPLE][16];
static const char *who[PEOPLE];

static const dp_silo_columns terms = {.logistic = true,
                                      .outcome = 1, /* at the registry */
                                      .columns = {D, D},
                                      .row_most = {2, 2},
                                      .addend_most = {.5, 1},
                                      .steps = 40,
                                      .step = 1,
                                      .ids = "people of the town"};

/* Both in one: each makes its key; one makes the plan, and both sign it. */
static dp_status agree(const char *scheme, dp_silo_key **key, dp_silo_plan **plan, dp_error *err)
{
    const double epsilon = strcmp(scheme, "columns") == 0 ? 0 : 2;
    dp_silo_owner owner[] = {{.name = "clinic"}, {.name = "registry"}};
    dp_status status = DP_OK;
    for (int k = 0; k < 2 && status == DP_OK; k++)
        if ((status = dp_silo_key_new(keys[k], &key[k], err)) == DP_OK)
            owner[k].key = dp_silo_key_public(key[k]);
    const dp_silo_opts o = {.name = "town",
                            .scheme = scheme,
                            .columns = &terms,
                            .n_owners = 2,
                            .owners = owner,
                            .epsilon = epsilon,
                            .delta = epsilon * 1e-6};
    status = status == DP_OK ? dp_silo_plan_new(&o, plan, err) : status;
    for (int k = 0; k < 2 && status == DP_OK; k++)
        status = dp_silo_plan_sign(*plan, key[k], err);
    return status;
}

static dp_status draw(dp_error *err)
{
    dp_rng *rng;
    dp_status status = dp_rng_new(7, &rng, err);
    if (status != DP_OK)
        return status;
    dp_rng_normal(rng, sizeof x / sizeof(double), &x[0][0][0]);
    dp_rng_uniform(rng, PEOPLE, odds);
    dp_rng_free(rng);
    for (int i = 0; i < PEOPLE; i++) {
        const double score = .8 * x[0][i][0] - .4 * x[0][i][1] + .6 * x[1][i][0];
        y[i] = dp_logistic(dp_num(score)).value > odds[i];
        (void)snprintf(ids[i], sizeof ids[i], "T%05d", i);
        who[i] = ids[i];
    }
    return DP_OK;
}

/* The clinic lacks the last hundred people, and the registry the first. */
static int run(const dp_silo_plan *plan, const dp_silo_key *key, int me, dp_error *err)
{
    const size_t lacking = 100, from = me == 0 ? 0 : lacking;
    const dp_silo_columns_data mine = {.rows = PEOPLE - lacking,
                                       .ids = who + from,
                                       .x = x[me][from],
                                       .y = me == 1 ? y + from : NULL};
    const dp_silo_run_opts o = {.key = key, .mailbox = "letters", .state = states[me]};
    size_t common;
    double w[D];
    if (dp_silo_run_columns(plan, &mine, &o, &common, w, err) != DP_OK)
        return fprintf(stderr, "columns: %s\n", err->text), 1;
    if (printf("%s: %zu people, %.3f %.3f\n", keys[me], common, w[0], w[1]) < 0)
        return 1;
    dp_silo_forget(states[me]); /* until here the same call goes on after a crash */
    return 0;
}

int main(int argc, char **argv)
{
    dp_error err = {0};
    dp_silo_key *key[2];
    dp_silo_plan *plan;
    if (umask(077), argc != 3 || mkdir(argv[2], 0700) || chdir(argv[2]) || mkdir("letters", 0700))
        return fprintf(stderr, "columns: give a scheme, and a folder that is not there yet\n"), 2;
    if (draw(&err) != DP_OK || agree(argv[1], key, &plan, &err) != DP_OK)
        return fprintf(stderr, "columns: %s\n", err.text), 1;
    FILE *f = fopen("town.plan", "w");
    int bad = f == NULL || fputs(dp_silo_plan_text(plan), f) < 0 || fclose(f) != 0, end, me = -1;
    for (int k = 0; k < 2 && me < 0; k++)
        me = fork() == 0 ? k : -1;
    for (int k = 0; k < 2 && me < 0; k++)
        bad |= wait(&end) < 0 || end != 0;
    if (me >= 0)
        bad = run(plan, key[me], me, &err);
    dp_silo_key_free(key[0]), dp_silo_key_free(key[1]);
    return dp_silo_plan_free(plan), bad;
}
