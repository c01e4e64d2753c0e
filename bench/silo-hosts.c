/* Hosts inside an owner: what is measured of real ranks, and what the schedule says of more.
 *   make bench/silo-hosts bench/silo-hosts-owner        (configure --with-mpi)
 *   bench/silo-hosts OWNER DATA [IMAGES]
 * OWNER is the program bench/silo-hosts-owner, DATA as in examples/images.h, both with whole paths:
 * a logistic regression at epsilon 3 of the first IMAGES (6000), scheme secagg+dp, 545 openings of
 * 7851 numbers or fewer.  Of five times the least counts.  JSON lines:
 *   costs     seconds of steps on this machine: of records and of what follows from an opening by
 *             fits of all and of a quarter of the images, by one process and by one beside which
 *             another does the same; of masks and letters by rounds of two owners; `way` is what a
 *             letter takes beyond them, `push` what ranks send each other
 *   run       of real fits by OWNERS x RANKS processes, what the schedule says of them, and whether
 *             all have one file of the fit; what has more processes than cores is not foretold
 *   hosts     what the schedule says of 2, 4 and 8 parties of 1 to 16 hosts, each with a core of
 *             its own, and letters that take half of 57 ms, or what they take here
 *   order     of columns+dp: what it is worth that letters go before work that nobody waits for */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tacit/tacit.h>

#include "bench.h"
#include "examples/images.h"
#include "random/grid.h"
#include "random/stream.h"
#include "silo/joint.h"
#include "silo/round.h"
#include "silo/schedule.h"
#include "silo/split.h"

enum { CLASSES = 10, STEPS = 545, ROUNDS = 200, BLOCKS = 64, MOST = 16, REPEATS = 5, PATH = 400 };
static const double half_way = 0.0285;

static char folder[PATH];
static images pictures;
static size_t numbers; /* of an opening */

static void must(bool good, const char *what, const dp_error *err)
{
    if (good)
        return;
    (void)fprintf(stderr, "silo-hosts: %s: %s\n", what, err != NULL ? err->text : "it fails");
    exit(1);
}

/* ---- parts ---- */

static dpi_arena arena;
static dpi_silo_part parts[DPI_SILO_PARTIES];

static void make_parts(const char *name, size_t parties)
{
    static const dp_opening one = {"main", 1, 1, 1, false};
    static const dpi_joint_columns columns = {20, 30, 40, 0, 1e-5};
    const dpi_silo_scheme *scheme = dpi_silo_scheme_named(name);
    dpi_silo_parties who = {.n = (uint16_t)parties, .most_records = 1000};
    dpi_silo_program p;
    dp_error err = {0};
    for (size_t k = 0; k < parties; k++)
        who.names[k][0] = (char)('a' + k);
    dp_status status = scheme->by_columns
                           ? dpi_silo_joint_columns(&p, &who, &columns, &err)
                           : dpi_silo_joint(&p, &who, DPI_JOINT_NOISY, 1e-5, 1, &one, &err);
    must(status == DP_OK && dpi_silo_split(&p, scheme, &arena, parts, &err) == DP_OK, name, &err);
}

static dpi_silo_schedule *schedule(size_t parties, size_t hosts, uint64_t records,
                                   dpi_silo_order order, const dpi_silo_costs *costs)
{
    const dpi_silo_schedule_opts o = {.parts = parts,
                                      .parties = parties,
                                      .hosts = hosts,
                                      .blocks = hosts > 1 ? BLOCKS : 1,
                                      .records = records,
                                      .order = order,
                                      .costs = *costs};
    dpi_silo_schedule *s;
    dp_error err = {0};
    must(dpi_silo_schedule_new(&o, &s, &err) == DP_OK, "schedule", &err);
    return s;
}

static double foretold(size_t parties, size_t hosts, uint64_t records, dpi_silo_order order,
                       const dpi_silo_costs *costs, size_t rounds)
{
    dpi_silo_schedule *s = schedule(parties, hosts, records, order, costs);
    const double took = dpi_silo_schedule_run(s, rounds);
    dpi_silo_schedule_free(s);
    return took;
}

/* ---- costs: of records, and of what follows from an opening ---- */

static dp_status adds_nothing(void *context, const unsigned char question[DP_OWNERS_QUESTION],
                              size_t n, uint64_t *values, dp_error *err)
{
    (void)context;
    (void)question;
    (void)values;
    (void)err;
    numbers = n > numbers ? n : numbers;
    return DP_OK;
}

static dp_model *logistic(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_weights(m, "w", pictures.pixels, CLASSES, dp_init_zeros());
    dp_observe(rows, "y",
               dp_categorical_logit(
                   dp_dense(dp_data(rows, "x", pictures.pixels), w, dp_param(m, "b", CLASSES, 0))));
    return m;
}

/* Seconds of a fit of the first n images by one process. */
static double fit(size_t n)
{
    const dp_owners alone = {
        .size = 1, .honest = 1, .seed = 7, .most_records = n, .open = adds_nothing};
    const dp_fit_opts o = {.epsilon = 3, .delta = 1e-5, .owners = &alone};
    dp_fit *made;
    dp_error err = {0};
    dp_model *m = logistic();
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_bytes(data, "x", pictures.pixels, pictures.pixels == 64 ? 16 : 255, pictures.train);
    dp_dataset_index(data, "y", pictures.labels);
    const double from = bench_now();
    must(dp_fit_private(m, data, &o, &made, &err) == DP_OK, "fit", &err);
    const double took = bench_now() - from;
    dp_fit_free(made);
    dp_dataset_free(data);
    dp_model_free(m);
    return took;
}

static void draw_share(void *of)
{
    dpi_stream_grid(of, numbers, (int64_t *)(void *)((char *)of + sizeof(dpi_stream)));
}

static double noise(void)
{
    static const unsigned char key[32] = {1};
    dpi_stream *s = calloc(1, sizeof *s + numbers * sizeof(int64_t));
    must(s != NULL, "noise", NULL);
    dpi_stream_start(s, key);
    const double took = bench_measure(draw_share, s).median;
    free(s);
    return took;
}

/* Fits without end in a process of its own, so that another core is as busy as in a real run. */
static pid_t keep_busy(size_t n)
{
    const pid_t child = fork();
    must(child >= 0, "fork", NULL);
    while (child == 0)
        (void)fit(n);
    return child;
}

/* With so many processes at it at once. */
static void measure_fit(size_t n, int at_once, dpi_silo_costs *c)
{
    double all[REPEATS], some[REPEATS];
    const pid_t other = at_once > 1 ? keep_busy(n) : 0;
    for (int k = 0; k < REPEATS; k++) {
        some[k] = fit(n / 4);
        all[k] = fit(n);
    }
    if (other > 0 && (kill(other, SIGKILL) != 0 || waitpid(other, NULL, 0) != other))
        must(false, "the other process", NULL);
    (void)bench_median(all, REPEATS); /* sorted: the least is of whom others have disturbed least */
    (void)bench_median(some, REPEATS);
    const double whole = all[0] / STEPS;
    c->step[DPI_SILO_INQUIRE] = (whole - some[0] / STEPS) / (double)(n - n / 4);
    c->step[DPI_SILO_DGAUSS] = noise();
    c->step[DPI_SILO_ADVANCE] =
        whole - c->step[DPI_SILO_INQUIRE] * (double)n - c->step[DPI_SILO_DGAUSS];
}

/* ---- costs: of rounds ---- */

typedef struct opener {
    size_t k, parties;
    unsigned char publics[MOST][DPI_SILO_PUBLIC], secrets[MOST][DPI_SILO_SECRET];
    char names[MOST][DPI_SILO_NAME], letters[2 * PATH];
} opener;

static opener shared;
static dpi_silo_costs seen[MOST];
static double round_took;

static void *open_rounds(void *of)
{
    const size_t k = *(const size_t *)of;
    dpi_carrier *carrier;
    dpi_silo_round *r;
    uint64_t *values = calloc(numbers, sizeof *values);
    dp_error err = {0};
    must(values != NULL && dpi_carrier_folder(shared.letters, &carrier, &err) == DP_OK, "letters",
         &err);
    const dpi_silo_round_opts o = {.part = &parts[k],
                                   .post = {.carrier = carrier,
                                            .party = k,
                                            .parties = shared.parties,
                                            .names = shared.names,
                                            .publics = shared.publics,
                                            .secret = shared.secrets[k],
                                            .patience_ms = 60000},
                                   .rounds = ROUNDS,
                                   .most = numbers,
                                   .costs = &seen[k]};
    must(dpi_silo_round_new(&o, &r, &err) == DP_OK, "round", &err);
    double from = bench_now();
    for (int t = 0; t < ROUNDS; t++) {
        if (t == ROUNDS / 4)
            from = bench_now();
        must(dpi_silo_round_open(r, (const unsigned char[32]){1}, numbers, values, &err) == DP_OK,
             "round", &err);
    }
    if (k == 0)
        round_took = (bench_now() - from) / (ROUNDS - ROUNDS / 4);
    dpi_silo_round_free(r);
    carrier->kind->close(carrier);
    free(values);
    return NULL;
}

/* What a letter takes on its way is what makes the schedule's rounds as long as those seen. */
static void find_way(size_t parties, dpi_silo_costs *c)
{
    dpi_silo_costs bare = *c;
    double low = 0, high = 1;
    bare.step[DPI_SILO_INQUIRE] = bare.step[DPI_SILO_ADVANCE] = bare.step[DPI_SILO_DGAUSS] = 0;
    for (int k = 0; k < 50; k++) {
        bare.way = (low + high) / 2;
        const bool longer = foretold(parties, 1, 1, DPI_SILO_IN_ORDER, &bare, 50) / 50 > round_took;
        *(longer ? &high : &low) = bare.way;
    }
    c->way = low;
}

static void measure_rounds(size_t parties, int turn, dpi_silo_costs *c)
{
    pthread_t thread[MOST];
    size_t who[MOST];
    make_parts("secagg+dp", parties);
    memset(&seen, 0, sizeof seen);
    shared.parties = parties;
    (void)snprintf(shared.letters, sizeof shared.letters, "%s/rounds-%d", folder, turn);
    must(mkdir(shared.letters, 0700) == 0, shared.letters, NULL);
    for (size_t k = 0; k < parties; k++) {
        shared.names[k][0] = (char)('a' + k);
        (void)crypto_sign_keypair(shared.publics[k], shared.secrets[k]);
    }
    for (size_t k = 0; k < parties; k++) {
        who[k] = k;
        must(pthread_create(&thread[k], NULL, open_rounds, &who[k]) == 0, "thread", NULL);
    }
    for (size_t k = 0; k < parties; k++)
        (void)pthread_join(thread[k], NULL);
    for (int s = 0; s < DPI_SILO_N_STEPS; s++)
        for (size_t k = 0; k < parties; k++)
            if (seen[k].seen[s])
                c->step[s] = seen[k].step[s] > c->step[s] ? seen[k].step[s] : c->step[s];
    find_way(parties, c);
}

/* ---- programs ---- */

/* The first number, and the second where wanted, that a command prints. */
static double ask(const char *command, double *second)
{
    double first = NAN, more = NAN;
    FILE *f = popen(command, "r");
    if (f != NULL && fscanf(f, "%lf %lf", &first, &more) < 1)
        first = NAN;
    must(f != NULL && pclose(f) == 0 && first == first, command, NULL);
    if (second != NULL)
        *second = more;
    return first;
}

/* Runs owners side by side, each of whose ranks has the records that the schedule gives it, the
 * seconds of the longest; whether all have one file of the fit. */
static double run(const char *program, const char *data, size_t n, size_t owners,
                  const dpi_silo_schedule *s, bool *same, double *right)
{
    static size_t times;
    char at[2 * PATH], line[16 * PATH];
    size_t used = 0;
    double longest = 0;
    (void)snprintf(at, sizeof at, "%s/run-%zu", folder, ++times);
    must(mkdir(at, 0700) == 0, at, NULL);
    (void)snprintf(line, sizeof line, "%s %s agree %s %zu %zu", program, at, data, n, owners);
    must(system(line) == 0, line, NULL);
    used = (size_t)snprintf(line, sizeof line, "cd %s || exit 1;", at);
    for (size_t k = 0; k < owners; k++) {
        uint64_t end = 0;
        used += (size_t)snprintf(
            line + used, sizeof line - used,
            " mpirun --bind-to none --mca mpi_yield_when_idle 1 -n %zu %s %s %zu %s %zu %zu",
            s->hosts, program, at, k, data, n, owners);
        for (size_t h = 0; h < s->hosts; h++)
            used +=
                (size_t)snprintf(line + used, sizeof line - used, " %llu",
                                 (unsigned long long)(end += dpi_silo_schedule_records(s, k, h)));
        used += (size_t)snprintf(line + used, sizeof line - used, " >took-%zu &", k);
    }
    (void)snprintf(line + used, sizeof line - used,
                   " wait; for f in fit-*; do cmp fit-0-0 $f || exit 1; done");
    *same = system(line) == 0;
    for (size_t k = 0; k < owners; k++) {
        (void)snprintf(line, sizeof line, "cat %s/took-%zu", at, k);
        const double took = ask(line, right);
        longest = took > longest ? took : longest;
    }
    return longest;
}

static void run_case(const char *program, const char *data, size_t n, size_t owners, size_t ranks,
                     dpi_silo_costs costs)
{
    double took[REPEATS], right = 0;
    bool same = true, one;
    if (owners == 1)
        costs.way = 0;
    make_parts("secagg+dp", owners);
    dpi_silo_schedule *s = schedule(owners, ranks, n / owners, DPI_SILO_IN_ORDER, &costs);
    for (int k = 0; k < REPEATS; k++) {
        took[k] = run(program, data, n / owners * owners, owners, s, &one, &right);
        same = same && one;
    }
    const double say = dpi_silo_schedule_run(s, STEPS), median = bench_median(took, REPEATS);
    (void)printf("{\"bench\": \"silo-hosts\", \"what\": \"run\", \"owners\": %zu, \"ranks\": %zu, "
                 "\"images\": %zu, \"records_of_rank_0\": %llu, \"same_fit\": %s, ",
                 owners, ranks, n, (unsigned long long)dpi_silo_schedule_records(s, 0, 0),
                 same ? "true" : "false");
    bench_number("right", right);
    bench_number("least", took[0]);
    bench_number("median", median);
    bench_number("greatest", took[REPEATS - 1]);
    bench_number("foretold", owners * ranks <= (size_t)sysconf(_SC_NPROCESSORS_ONLN) ? say : NAN);
    bench_end_line();
    (void)fflush(stdout);
    dpi_silo_schedule_free(s);
}

/* ---- what is foretold ---- */

/* Of parties with n records each, letters taking so long.  Masks are as many as other parties. */
static void say_hosts(size_t n, double way, const dpi_silo_costs *measured)
{
    for (size_t parties = 2; parties <= 8; parties *= 2) {
        dpi_silo_costs costs = *measured;
        costs.way = way;
        costs.step[DPI_SILO_MASK] *= (double)(parties - 1);
        costs.step[DPI_SILO_UNLOCK] *= (double)(parties - 1);
        make_parts("secagg+dp", parties);
        for (size_t hosts = 1; hosts <= 16; hosts *= 2) {
            static const char *const names[] = {"in_order_s", "as_they_come_s", "by_priority_s"};
            (void)printf("{\"bench\": \"silo-hosts\", \"what\": \"hosts\", \"parties\": %zu, "
                         "\"hosts\": %zu, \"records\": %zu, ",
                         parties, hosts, n);
            bench_number("way", way);
            for (int o = 0; o < 3; o++)
                bench_number(names[o],
                             foretold(parties, hosts, n, (dpi_silo_order)o, &costs, 50) / 50);
            bench_end_line();
        }
    }
}

static volatile int64_t sink;

/* Own columns times own addends of 100 rows and 784 columns, in whole numbers. */
static void multiply(void *of)
{
    enum { ROWS = 100, COLUMNS = 784 };
    const int64_t *x = of;
    for (size_t c = 0; c < COLUMNS; c++) {
        int64_t sum = 0;
        for (size_t i = 0; i < ROWS; i++)
            sum += x[i * COLUMNS + c] * x[i];
        sink = sum;
    }
}

static void say_order(void)
{
    int64_t *x = calloc(100 * 784, sizeof *x);
    must(x != NULL, "columns", NULL);
    dpi_silo_costs c = {.way = half_way};
    c.step[DPI_SILO_INNER] = bench_measure(multiply, x).median;
    make_parts("columns+dp", 2);
    (void)printf("{\"bench\": \"silo-hosts\", \"what\": \"order\", \"scheme\": \"columns+dp\", ");
    bench_number("inner_s", c.step[DPI_SILO_INNER]);
    bench_number("in_order_s", foretold(2, 1, 1, DPI_SILO_IN_ORDER, &c, 50) / 50);
    bench_number("by_priority_s", foretold(2, 1, 1, DPI_SILO_BY_PRIORITY, &c, 50) / 50);
    bench_end_line();
    free(x);
}

static void say_costs(size_t n, int at_once, const dpi_silo_costs *c)
{
    (void)printf(
        "{\"bench\": \"silo-hosts\", \"what\": \"costs\", \"at_once\": %d, \"images\": %zu, "
        "\"numbers\": %zu, ",
        at_once, n, numbers);
    bench_number("record", c->step[DPI_SILO_INQUIRE]);
    bench_number("advance", c->step[DPI_SILO_ADVANCE]);
    bench_number("noise", c->step[DPI_SILO_DGAUSS]);
    bench_number("mask", c->step[DPI_SILO_MASK]);
    bench_number("unlock", c->step[DPI_SILO_UNLOCK]);
    bench_number("addall", c->step[DPI_SILO_ADDALL]);
    bench_number("send", c->step[DPI_SILO_SEND]);
    bench_number("round_of_two", round_took);
    bench_number("way", c->way);
    bench_number("push", c->push);
    bench_end_line();
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    dpi_silo_costs c[2] = {{.way = 0}}; /* of one process at a time, and of two at once */
    dp_error err = {0};
    char line[4 * PATH];
    const char *temporary = getenv("TMPDIR");
    if (argc < 3 || sodium_init() < 0)
        return (void)fprintf(stderr, "silo-hosts OWNER DATA [IMAGES]\n"), 2;
    must(images_read(argv[2], true, &pictures, &err) == DP_OK, argv[2], &err);
    const size_t asked = argc > 3 ? strtoul(argv[3], NULL, 10) : 6000;
    const size_t n = asked < pictures.n ? asked : pictures.n;
    (void)snprintf(folder, sizeof folder, "%.200s/silo-hosts-XXXXXX",
                   temporary != NULL ? temporary : "/tmp");
    must(mkdtemp(folder) != NULL, folder, NULL);
    (void)snprintf(line, sizeof line,
                   "mpirun --bind-to none --mca mpi_yield_when_idle 1 -n 2 %s push %zu", argv[1],
                   (pictures.pixels + 1) * CLASSES + 1);
    for (int k = 0; k < 2; k++) {
        measure_fit(n, k + 1, &c[k]);
        measure_rounds(2, k, &c[k]);
        c[k].push = ask(line, NULL) / 2; /* of blocks to rank 0, and of what was opened back */
        say_costs(n, k + 1, &c[k]);
    }
    run_case(argv[1], argv[2], n, 1, 1, c[0]);
    run_case(argv[1], argv[2], n, 1, 2, c[1]);
    run_case(argv[1], argv[2], n, 2, 1, c[1]);
    run_case(argv[1], argv[2], n, 2, 2, c[1]);
    for (size_t records = n; records <= 10 * n; records *= 10) {
        say_hosts(records, half_way, &c[0]);
        say_hosts(records, c[0].way, &c[0]);
    }
    say_order();
    dpi_arena_free(&arena);
    images_free(&pictures);
    (void)snprintf(line, sizeof line, "rm -rf %s", folder);
    return system(line) != 0;
}
