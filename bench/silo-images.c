/* Images of several owners: the same model fitted centrally, and by owners each with a part of the
 * images who open sums together, in processes that share a folder and nothing else.
 *   make bench/silo-images
 *   bench/silo-images DATA MODEL SCHEME OWNERS [IMAGES [sorted]]
 * DATA is as in examples/images.h, MODEL logistic or cnn, SCHEME plain or central (one process,
 * with no privacy or epsilon 3), fedsgd, fedsgd+he, secagg+dp, or fedavg:K, fedavg+he:K with K
 * steps of each owner by itself.  Owners have every OWNERS-th image of the first IMAGES, or with
 * "sorted" each some of the classes; nobody puts together what he knows, so that the noise is
 * central's in law.
 * One JSON line: the share of test images that are told right, seconds of the clock, of processor
 * of all processes, and bytes of all letters. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tacit/silo.h>
#include <tacit/tacit.h>

#include "bench.h"
#include "bench/networks.h"
#include "examples/images.h"

enum { CLASSES = NETWORK_CLASSES, MOST = 16, PATH = 300 };
static const double epsilon = 3, delta = 1e-5;

static void must(dp_status status, const char *what, const dp_error *err)
{
    if (status == DP_OK)
        return;
    (void)fprintf(stderr, "silo-images: %s: %s\n", what, err->text);
    exit(1);
}

/* In which images are handed out, one to each owner in turn. */
static size_t *order;

/* As they are, or so that each of several owners gets neighbours among those sorted by label. */
static void make_order(const images *s, size_t n, size_t owners, bool sorted)
{
    size_t owner = 0, turn = 0;
    order = malloc(n * sizeof *order);
    if (order == NULL)
        abort();
    for (size_t i = 0; i < n && !sorted; i++)
        order[i] = i;
    for (int32_t label = 0; label < CLASSES && sorted; label++)
        for (size_t i = 0; i < n; i++) {
            if (s->labels[i] != label)
                continue;
            if (owner + turn * owners >= n) {
                owner++;
                turn = 0;
            }
            order[owner + turn++ * owners] = i;
        }
}

/* Every step-th of the first n images from the first on. */
static dp_dataset *take(const images *s, size_t n, size_t first, size_t step)
{
    size_t mine = (n - first + step - 1) / step;
    unsigned char *x = malloc(mine * s->pixels);
    int32_t *y = malloc(mine * sizeof *y);
    dp_dataset *data = dp_dataset_new(mine);
    if (x == NULL || y == NULL)
        abort();
    for (size_t i = 0; i < mine; i++) {
        const size_t at = order[first + i * step];
        memcpy(x + i * s->pixels, s->train + at * s->pixels, s->pixels);
        y[i] = s->labels[at];
    }
    dp_dataset_bytes(data, "x", s->pixels, s->pixels == 64 ? 16 : 255, x); /* never given back */
    dp_dataset_index(data, "y", y);
    return data;
}

/* ---- owners ---- */

static dp_silo_key *keys[MOST];

static dp_silo_plan *agree(const dp_model *m, const char *word, size_t n, size_t most)
{
    const bool noisy = strncmp(word, "fed", 3) != 0;
    const size_t length = strcspn(word, ":");
    char scheme[16] = "", names[MOST][16], path[32];
    dp_silo_owner owners[MOST];
    dp_silo_plan *plan;
    dp_error err = {0};
    (void)snprintf(scheme, sizeof scheme, "%.*s", (int)length, word);
    for (size_t k = 0; k < n; k++) {
        (void)snprintf(names[k], sizeof names[k], "o%zu", k);
        (void)snprintf(path, sizeof path, "key-%zu", k);
        must(dp_silo_key_new(path, &keys[k], &err), "key", &err);
        owners[k] = (dp_silo_owner){names[k], dp_silo_key_public(keys[k])};
    }
    const dp_silo_opts o = {.name = "images",
                            .scheme = scheme,
                            .model = m,
                            .n_owners = n,
                            .owners = owners,
                            .epsilon = noisy ? epsilon : 0,
                            .delta = noisy ? delta : 0,
                            .local_steps =
                                word[length] == ':' ? strtoull(word + length + 1, NULL, 10) : 0,
                            .trusting = true,
                            .most_records = most};
    must(dp_silo_plan_new(&o, &plan, &err), "plan", &err);
    for (size_t k = 0; k < n; k++)
        must(dp_silo_plan_sign(plan, keys[k], &err), "sign", &err);
    return plan;
}

/* One owner's process; it does not return. */
static void act(const dp_silo_plan *plan, const dp_model *m, const images *s, size_t n, size_t k,
                size_t owners)
{
    char path[32];
    dp_fit *fit;
    dp_error err = {0};
    const dp_silo_run_opts o = {.key = keys[k], .mailbox = "letters"};
    (void)snprintf(path, sizeof path, "fit-%zu", k);
    must(dp_silo_run(plan, m, take(s, n, k, owners), &o, &fit, &err), path, &err);
    must(dp_fit_save(fit, path, &err), path, &err);
    _exit(0);
}

/* Bytes of the letters that lie there of rounds before `end`, 0: of all; these are taken away. */
static double letters(unsigned long end, unsigned long *newest)
{
    double bytes = 0;
    DIR *d = opendir("letters");
    struct stat at;
    char path[PATH];
    for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        const char *tag = strchr(e->d_name, '+');
        const unsigned long round = tag != NULL ? strtoul(tag + 1, NULL, 10) : 0;
        *newest = round > *newest ? round : *newest;
        (void)snprintf(path, sizeof path, "letters/%.255s", e->d_name);
        if (e->d_name[0] == '.' || (end > 0 && (round == 0 || round >= end)) ||
            stat(path, &at) != 0)
            continue;
        bytes += (double)at.st_size;
        if (end > 0)
            (void)unlink(path);
    }
    if (d != NULL)
        (void)closedir(d);
    return bytes;
}

/* Takes away the files of a folder. */
static void clear(const char *folder)
{
    DIR *d = opendir(folder);
    char path[2 * PATH];
    for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        (void)snprintf(path, sizeof path, "%s/%.255s", folder, e->d_name);
        (void)unlink(path); /* folders stay */
    }
    if (d != NULL)
        (void)closedir(d);
}

/* Waits for the owners, and takes away letters that nobody reads any more: whoever is in a round has
 * those of the one before.  Bytes of all letters. */
static double wait_for(size_t owners)
{
    const struct timespec moment = {0, 20000000};
    double bytes = 0;
    unsigned long newest = 0;
    for (size_t left = owners; left > 0;) {
        int end = 0;
        const pid_t who = waitpid(-1, &end, WNOHANG);
        if (who < 0 || end != 0)
            exit(1);
        left -= who > 0;
        if (newest > 4)
            bytes += letters(newest - 3, &newest);
        else
            (void)letters(0, &newest);
        (void)nanosleep(&moment, NULL);
    }
    return bytes + letters(0, &newest);
}

static dp_fit *together(const dp_model *m, const images *s, size_t n, const char *scheme,
                        size_t owners, double *bytes)
{
    dp_silo_plan *plan = agree(m, scheme, owners, n);
    dp_fit *fit;
    dp_error err = {0};
    for (size_t k = 0; k < owners; k++)
        if (fork() == 0)
            act(plan, m, s, n, k, owners);
    *bytes = wait_for(owners);
    must(dp_fit_load("fit-0", &fit, &err), "fit", &err);
    dp_silo_plan_free(plan);
    return fit;
}

static dp_fit *alone(const dp_model *m, const images *s, size_t n, const char *scheme)
{
    const bool noisy = strcmp(scheme, "plain") != 0;
    const dp_fit_opts o = {.mode = noisy ? DP_PRIVATE : DP_NO_PRIVACY,
                           .method = DP_METHOD_ROUNDS,
                           .epsilon = noisy ? epsilon : 0,
                           .delta = noisy ? delta : 0};
    dp_fit *fit;
    dp_error err = {0};
    must(dp_fit_private(m, take(s, n, 0, 1), &o, &fit, &err), scheme, &err);
    return fit;
}

int main(int argc, char **argv)
{
    images s;
    dp_error err = {0};
    struct rusage of_others;
    char folder[PATH];
    const char *temporary = getenv("TMPDIR");
    if (argc < 5)
        return (void)fprintf(stderr, "silo-images DATA MODEL SCHEME OWNERS [IMAGES [sorted]]\n"), 2;
    const size_t owners = strtoul(argv[4], NULL, 10);
    must(images_read(argv[1], true, &s, &err), argv[1], &err);
    const size_t asked = argc > 5 ? strtoul(argv[5], NULL, 10) : s.n, n = asked < s.n ? asked : s.n;
    const bool sorted = argc > 6 && strcmp(argv[6], "sorted") == 0;
    const bool apart = strcmp(argv[3], "plain") != 0 && strcmp(argv[3], "central") != 0;
    if (owners < 1 || owners > MOST || n < owners)
        return (void)fprintf(stderr, "silo-images: 1 to %d owners with an image each\n", MOST), 2;
    (void)snprintf(folder, sizeof folder, "%.200s/silo-images-XXXXXX",
                   temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(folder) == NULL || chdir(folder) != 0 || mkdir("letters", 0700) != 0)
        return perror(folder), 1;
    make_order(&s, n, owners, sorted);
    dp_model *m = network_new(argv[2], s.pixels);
    double from = bench_now(), bytes = 0;
    dp_fit *fit = apart ? together(m, &s, n, argv[3], owners, &bytes) : alone(m, &s, n, argv[3]);
    double clock = bench_now() - from;
    (void)getrusage(RUSAGE_CHILDREN, &of_others);
    double processor = bench_processor() +
                       (double)(of_others.ru_utime.tv_sec + of_others.ru_stime.tv_sec) +
                       1e-6 * (double)(of_others.ru_utime.tv_usec + of_others.ru_stime.tv_usec);
    (void)printf(
        "{\"bench\": \"silo-images\", \"model\": \"%s\", \"scheme\": \"%s\", \"owners\": %zu, "
        "\"images\": %zu, \"sorted\": %s, ",
        argv[2], argv[3], apart ? owners : 1, n, sorted ? "true" : "false");
    bench_number("right", network_right(fit, &s));
    bench_number("clock_s", clock);
    bench_number("processor_s", processor);
    bench_number("letters_bytes", bytes);
    bench_end_line();
    dp_fit_free(fit);
    dp_model_free(m);
    images_free(&s);
    free(order);
    clear("letters");
    clear(".");
    (void)rmdir("letters");
    (void)rmdir(folder);
    return 0;
}
