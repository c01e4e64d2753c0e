/* What `tacit fit` takes on a large table (doc/performance.md).
 *
 * Makes a CSV file of ten columns under the folder --in, lets `tacit fit` read and fit it, and
 * prints a JSON line: seconds by the clock, processor seconds, and the most memory that the command
 * had of its own (RssAnon, looked at every 20 ms) and in all, mapped files included (VmHWM).
 *
 *   x1 ... x6  normal, cut to [-4, 4], four decimals      region  four levels
 *   sex        two levels                                 age     whole, 18 ... 90
 *   y          --family bernoulli: N or Y;  gaussian: a mean and noise of standard deviation 1.5
 *
 * y depends on all of them.  The floor beside it: bytes of the file, and seconds in which this
 * program reads them from the cache of the system and counts lines, which any reader must.
 *   make bench/fit-table tacit && bench/fit-table [--rows N] [--family F] [--threads T]
 *       [--in FOLDER] [--keep 1] [--tool ./tacit] [--epsilon E] */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tacit/random.h>

#include "bench.h"
#include "options.h"

enum { REALS = 6, REGIONS = 4, CHUNK = 4096, MOST_ROW = 128, PATH = 4096 };

static const char *const region_name[REGIONS] = {"north", "east", "south", "west"};
static const double slope[REALS] = {0.6, -0.4, 0.25, 0, -0.15, 0.1};
static const double of_region[REGIONS] = {0, 0.3, -0.2, 0.5}, of_sex = 0.35, of_year = 0.01;

/* ---- the table ---- */

/* A number of four decimals; returns where it ends. */
static char *put_number(char *to, double x)
{
    long units = lround(x * 1e4);
    char digits[24];
    int n = 0;
    if (units < 0)
        *to++ = '-';
    for (unsigned long u = (unsigned long)labs(units); n < 5 || u > 0; u /= 10)
        digits[n++] = (char)('0' + u % 10);
    while (n > 4)
        *to++ = digits[--n];
    *to++ = '.';
    while (n > 0)
        *to++ = digits[--n];
    return to;
}

static char *put_text(char *to, const char *text)
{
    size_t length = strlen(text);
    memcpy(to, text, length);
    return to + length;
}

/* One record, from normal[REALS + 1] and uniform[4]. */
static char *put_record(char *to, bool binary, const double *normal, const double *uniform)
{
    const size_t region = (size_t)(uniform[0] * REGIONS), sex = uniform[1] < 0.5;
    const int age = 18 + (int)(uniform[2] * 73);
    double mean = of_region[region] + of_sex * (double)sex + of_year * (age - 54);
    for (size_t j = 0; j < REALS; j++) {
        const double x = fmax(-4, fmin(4, normal[j]));
        mean += slope[j] * x;
        to = put_number(to, x);
        *to++ = ',';
    }
    to = put_text(to, region_name[region]);
    to = put_text(to, sex ? ",F," : ",M,");
    to += sprintf(to, "%d,", age);
    if (binary)
        *to++ = uniform[3] < 1 / (1 + exp(-mean)) ? 'Y' : 'N';
    else
        to = put_number(to, fmax(-20, fmin(20, mean + 1.5 * normal[REALS])));
    *to++ = '\n';
    return to;
}

static void must(bool good, const char *what)
{
    if (!good)
        bench_stop(what, strerror(errno));
}

static double make_table(const char *path, size_t rows, bool binary)
{
    static double normal[CHUNK * (REALS + 1)], uniform[CHUNK * 4];
    static char text[CHUNK * MOST_ROW];
    double bytes = 0;
    dp_rng *rng;
    FILE *f = fopen(path, "wb");
    must(f != NULL && dp_rng_new(15, &rng, NULL) == DP_OK, path);
    must(fputs("x1,x2,x3,x4,x5,x6,region,sex,age,y\n", f) >= 0, path);
    for (size_t done = 0; done < rows; done += CHUNK) {
        const size_t n = rows - done < CHUNK ? rows - done : CHUNK;
        char *to = text;
        dp_rng_normal(rng, n * (REALS + 1), normal);
        dp_rng_uniform(rng, n * 4, uniform);
        for (size_t i = 0; i < n; i++)
            to = put_record(to, binary, normal + i * (REALS + 1), uniform + i * 4);
        must(fwrite(text, 1, (size_t)(to - text), f) == (size_t)(to - text), path);
        bytes += (double)(to - text);
    }
    must(fclose(f) == 0, path);
    dp_rng_free(rng);
    return bytes;
}

static void make_schema(const char *path, bool binary)
{
    FILE *f = fopen(path, "w");
    must(f != NULL, path);
    for (int j = 1; j <= REALS; j++)
        (void)fprintf(f, "x%d real -4 .. 4\n", j);
    (void)fprintf(f,
                  "region level north east south west\nsex level M F\nage integer 18 .. 90\n%s\n",
                  binary ? "y level N Y" : "y real -20 .. 20");
    must(fclose(f) == 0, path);
}

/* Seconds to read the file once and count its lines. */
static double read_once(const char *path)
{
    static char block[1 << 18];
    const double started = bench_now();
    size_t lines = 0;
    int fd = open(path, O_RDONLY);
    must(fd >= 0, path);
    for (ssize_t got; (got = read(fd, block, sizeof block)) > 0;)
        for (ssize_t i = 0; i < got; i++)
            lines += block[i] == '\n';
    must(close(fd) == 0 && lines > 0, path);
    return bench_now() - started;
}

/* ---- the command ---- */

typedef struct cost {
    double wall, processor, own_mb, all_mb;
} cost;

/* The figure of a line of /proc/PID/status, in MB; `least` where there is none. */
static double look(pid_t pid, const char *line, double least)
{
    char path[64], text[4096];
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    double found = least;
    while (f != NULL && fgets(text, sizeof text, f) != NULL)
        if (strncmp(text, line, strlen(line)) == 0)
            found = fmax(found, strtod(text + strlen(line), NULL) / 1024);
    if (f != NULL)
        (void)fclose(f);
    return found;
}

static cost run(const char **words)
{
    const union {
        const char **words;
        char *const *argv;
    } as = {words};
    char *const *argv = as.argv;
    extern char **environ;
    const struct timespec moment = {0, 20 * 1000 * 1000};
    cost c = {0};
    pid_t pid;
    int status;
    struct rusage used;
    posix_spawn_file_actions_t quiet;
    must(posix_spawn_file_actions_init(&quiet) == 0 &&
             posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0,
         argv[0]);
    const double started = bench_now();
    must(posix_spawn(&pid, argv[0], &quiet, NULL, argv, environ) == 0, argv[0]);
    while (waitpid(pid, &status, WNOHANG) == 0) {
        c.own_mb = look(pid, "RssAnon:", c.own_mb);
        c.all_mb = look(pid, "VmHWM:", c.all_mb);
        (void)nanosleep(&moment, NULL);
    }
    c.wall = bench_now() - started;
    (void)posix_spawn_file_actions_destroy(&quiet);
    must(getrusage(RUSAGE_CHILDREN, &used) == 0, "getrusage");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        bench_stop(argv[0], "the fit has failed");
    c.processor = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                  1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    return c;
}

int main(int argc, char **argv)
{
    uint64_t rows = 100000, threads = 2, keep = 0;
    double epsilon = 2;
    const char *family = "bernoulli", *in = "/var/tmp", *tool = "./tacit";
    const bench_option options[] = {
        {"--rows", &rows, NULL, NULL},       {"--threads", &threads, NULL, NULL},
        {"--epsilon", NULL, &epsilon, NULL}, {"--family", NULL, NULL, &family},
        {"--in", NULL, NULL, &in},           {"--keep", &keep, NULL, NULL},
        {"--tool", NULL, NULL, &tool}};
    bench_options(argc, argv, sizeof options / sizeof options[0], options);
    const bool binary = strcmp(family, "bernoulli") == 0;
    char csv[PATH], schema[PATH], spent[32], workers[32];
    (void)snprintf(csv, sizeof csv, "%s/fit-table-%d.csv", in, (int)getpid());
    (void)snprintf(schema, sizeof schema, "%s/fit-table-%d.schema", in, (int)getpid());
    (void)snprintf(spent, sizeof spent, "%g", epsilon);
    (void)snprintf(workers, sizeof workers, "%d", (int)threads);
    const double bytes = make_table(csv, rows, binary), floor = read_once(csv);
    make_schema(schema, binary);
    const char *command[] = {
        tool,        "fit",       "y ~ x1 + x2 + x3 + x4 + x5 + x6 + region + sex + age",
        "--family",  family,      "--data",
        csv,         "--schema",  schema,
        "--epsilon", spent,       "--delta",
        "1e-8",      "--threads", workers,
        NULL};
    const cost c = run(command);
    (void)printf("{\"rows\": %llu, \"family\": \"%s\", \"threads\": %llu, ",
                 (unsigned long long)rows, family, (unsigned long long)threads);
    bench_number("megabytes", bytes / 1e6);
    bench_number("seconds", c.wall);
    bench_number("processor seconds", c.processor);
    bench_number("own memory mb", c.own_mb);
    bench_number("memory mb", c.all_mb);
    bench_number("seconds to count lines", floor);
    bench_end_line();
    must(keep > 0 || (unlink(csv) == 0 && unlink(schema) == 0), csv);
    return 0;
}
