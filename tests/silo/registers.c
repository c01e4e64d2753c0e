#define _XOPEN_SOURCE 700
#include "tests/silo/registers.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"

const dp_silo_columns registers_usual = {.logistic = true,
                                         .outcome = 1,
                                         .columns = {4, 6},
                                         .row_most = {1.5, 1.5},
                                         .addend_most = {1.5, 1.5},
                                         .steps = 20,
                                         .step = 2,
                                         .ridge = .01,
                                         .ids = "people of two registers"};

register_side registers[2];
double register_table[2][PEOPLE * MOST_D], register_outcomes[PEOPLE];

void registers_begin(joint *j, const dp_silo_columns *c, const char *scheme)
{
    dp_rng *rng = NULL;
    dp_error err = {0};
    memset(j, 0, sizeof *j);
    plans_make(&j->p);
    j->p.opts = (dp_silo_opts){.name = "columns",
                               .scheme = scheme,
                               .columns = c,
                               .n_owners = 2,
                               .owners = j->p.owners,
                               .epsilon = strcmp(scheme, "columns+dp") == 0 ? 4 : 0,
                               .delta = strcmp(scheme, "columns+dp") == 0 ? 1e-5 : 0,
                               .most_records = 1000,
                               .seed = 11};
    joint_begin(j);
    assert_ok(dp_rng_new(8, &rng, &err), err.text);
    dp_rng_normal(rng, 2 * PEOPLE * MOST_D, register_table[0]);
    for (size_t i = 0; i < PEOPLE; i++)
        register_outcomes[i] =
            register_table[0][i * MOST_D] - register_table[1][i * MOST_D + 1] > 0;
    dp_rng_free(rng);
    for (size_t k = 0; k < 2; k++) {
        register_side *s = &registers[k];
        memset(s, 0, sizeof *s);
        s->k = k;
        s->j = j;
        for (size_t i = 0; i < PEOPLE; i++) {
            const size_t who = k == 0 ? i : (i * 7 + 3) % PEOPLE, d = c->columns[k];
            if (who % (k == 0 ? 5 : 3) == 0)
                continue;
            (void)snprintf(s->ids[s->rows], sizeof s->ids[0], k == 0 ? "P%zu" : " p%zu ", who);
            s->at[s->rows] = s->ids[s->rows];
            s->who[s->rows] = who;
            for (size_t q = 0; q < d; q++)
                s->x[s->rows * d + q] = register_table[k][who * MOST_D + q] * .25;
            s->y[s->rows++] = register_outcomes[who];
        }
        s->opts = joint_opts(j, k);
        (void)snprintf(s->mailbox, sizeof s->mailbox, "%s", s->opts.mailbox);
        (void)snprintf(s->state, sizeof s->state, "%s", s->opts.state);
        s->opts.mailbox = s->mailbox;
        s->opts.state = s->state;
        s->opts.audit = k == 0 ? joint_path("audit", 0) : NULL;
    }
}

void registers_end(joint *j)
{
    joint_end(j);
}

size_t registers_take(const char *word)
{
    char path[600];
    size_t n = 0;
    DIR *d = opendir(joint_path("mailbox", 0));
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.' && (word == NULL || strstr(e->d_name, word) != NULL)) {
            (void)snprintf(path, sizeof path, "%s/%.255s", joint_path("mailbox", 0), e->d_name);
            assert_int_equal(unlink(path), 0);
            n++;
        }
    (void)closedir(d);
    return n;
}

/* The slope of the loss in the score, of outcome y. */
static double slope(const dp_silo_columns *c, bool exact, double score, double y)
{
    return !c->logistic ? score - y
           : exact      ? 1 / (1 + exp(-score)) - y
                        : score / 4 - (2 * y - 1) / 2;
}

void registers_solve(const dp_silo_columns *c, bool exact, double w[2][MOST_D])
{
    memset(w, 0, 2 * sizeof *w);
    for (uint64_t t = 0; t < c->steps; t++) {
        double g[2][MOST_D] = {{0}}, n = 0;
        for (size_t i = 0; i < PEOPLE; i++) {
            if (i % 5 == 0 || i % 3 == 0)
                continue;
            double score = 0;
            for (int p = 0; p < 2; p++)
                for (size_t q = 0; q < c->columns[p]; q++)
                    score += .25 * register_table[p][i * MOST_D + q] * w[p][q];
            const double r = slope(c, exact, score, register_outcomes[i]);
            for (int p = 0; p < 2; p++)
                for (size_t q = 0; q < c->columns[p]; q++)
                    g[p][q] += r * .25 * register_table[p][i * MOST_D + q];
            n++;
        }
        for (int p = 0; p < 2; p++)
            for (size_t q = 0; q < c->columns[p]; q++)
                w[p][q] -= c->step * (g[p][q] / n + c->ridge * w[p][q]);
    }
}

void *register_act(void *of)
{
    register_side *s = of;
    const dp_silo_columns_data data = {
        .rows = s->rows,
        .ids = s->at,
        .x = s->x,
        .y = s->k == dp_silo_plan_opts(s->j->plan)->columns->outcome ? s->y : NULL};
    s->err = (dp_error){0};
    s->status = dp_silo_run_columns(s->j->plan, &data, &s->opts, &s->common, s->w, &s->err);
    return NULL;
}

void registers_run(void)
{
    char audit[256];
    pthread_t threads[2];
    (void)snprintf(audit, sizeof audit, "%s", joint_path("audit", 0));
    registers[0].opts.audit = audit;
    for (int k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, register_act, &registers[k]), 0);
    for (int k = 0; k < 2; k++)
        (void)pthread_join(threads[k], NULL);
}
