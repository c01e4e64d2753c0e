/* What it costs to open a sum together: owners as threads, all that is sealed, signed, masked and
 * kept being done, but the noise.
 *   make bench/silo-sum
 *   bench/silo-sum [scheme] [owners numbers rounds [mailbox [authorities]]]
 * 3 7850 200 and secagg+dp without; of other schemes fedsgd, which hides nothing, and fedsgd+he.
 * One JSON line: milliseconds of processor a round and owner, and of the clock a round.  Letters
 * are in memory; or in a folder, which must be empty; or on a server (tacit silo relay).  Each
 * owner's state is a file in $TMPDIR, as in a run. */
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "silo/joint.h"
#include "silo/round.h"
#include "silo/split.h"

enum { MOST = 8 };

typedef struct shared_by_owners {
    const dpi_silo_scheme *scheme;
    size_t owners, numbers, rounds;
    const char *mailbox, *authorities; /* NULL: memory */
    dpi_letter_box *box;
    char names[MOST][DPI_SILO_NAME];
    unsigned char publics[MOST][DPI_SILO_PUBLIC], secrets[MOST][DPI_SILO_SECRET];
    dpi_silo_part parts[DPI_SILO_PARTIES];
    char states[MOST][256];
} shared_by_owners;

static shared_by_owners all;
static dp_status outcome[MOST];
static dp_error errors[MOST];

static const char *letters(void)
{
    return all.mailbox == NULL                      ? "memory"
           : strncmp(all.mailbox, "https:", 6) == 0 ? "https"
                                                    : "folder";
}

static dp_status open_carrier(dpi_carrier **carrier, dp_error *err)
{
    const dpi_https_opts https = {.url = all.mailbox, .authorities = all.authorities};
    return strcmp(letters(), "memory") == 0  ? dpi_carrier_memory(all.box, carrier, err)
           : strcmp(letters(), "https") == 0 ? dpi_carrier_https(&https, carrier, err)
                                             : dpi_carrier_folder(all.mailbox, carrier, err);
}

static dp_status open_all(size_t k, dp_error *err)
{
    dpi_carrier *carrier = NULL;
    dpi_silo_round *r = NULL;
    uint64_t *values = calloc(all.numbers, sizeof *values);
    dp_status status = values != NULL ? open_carrier(&carrier, err) : DP_ENOMEM;
    dpi_silo_round_opts opts = {.part = &all.parts[k],
                                .post = {.carrier = carrier,
                                         .party = k,
                                         .parties = all.owners,
                                         .names = all.names,
                                         .publics = all.publics,
                                         .secret = all.secrets[k],
                                         .patience_ms = 60000},
                                .colluders = all.owners > 1,
                                .rounds = all.rounds,
                                .most = all.numbers,
                                .state = all.states[k]};
    if (status == DP_OK)
        status = dpi_silo_round_new(&opts, &r, err);
    for (size_t t = 0; status == DP_OK && t < all.rounds; t++) {
        for (size_t j = 0; j < all.numbers; j++)
            values[j] = j * (k + 1);
        status = dpi_silo_round_open(r, (const unsigned char[32]){1}, all.numbers, values, err);
        for (size_t j = 0; status == DP_OK && j < all.numbers; j++)
            if (values[j] != j * (all.owners * (all.owners + 1) / 2))
                status = DP_EDATA;
    }
    dpi_silo_round_free(r);
    if (carrier != NULL)
        carrier->kind->close(carrier);
    free(values);
    return status;
}

static void *act(void *of)
{
    size_t k = *(size_t *)of;
    outcome[k] = open_all(k, &errors[k]);
    return NULL;
}

static int set_up(dpi_arena *arena)
{
    static const dp_opening one = {"main", 1, 1, 1, false};
    const char *folder = getenv("TMPDIR");
    dpi_silo_parties who = {
        .n = (uint16_t)all.owners, .colluders = all.owners > 1, .most_records = 1000};
    dpi_silo_program p;
    dp_error err = {0};
    if (sodium_init() < 0 || dpi_letter_box_new(&all.box, &err) != DP_OK)
        return 1;
    for (size_t k = 0; k < all.owners; k++) {
        all.names[k][0] = who.names[k][0] = (char)('a' + k);
        (void)crypto_sign_keypair(all.publics[k], all.secrets[k]);
        (void)snprintf(all.states[k], sizeof all.states[k], "%.200s/silo-sum-%ld-%zu",
                       folder != NULL ? folder : "/tmp", (long)getpid(), k);
    }
    return dpi_silo_joint(&p, &who, all.scheme->noisy, 1e-5, 1, &one, &err) != DP_OK ||
           dpi_silo_split(&p, all.scheme, arena, all.parts, &err) != DP_OK;
}

int main(int argc, char **argv)
{
    const bool named = argc > 1 && dpi_silo_scheme_named(argv[1]) != NULL;
    all.scheme = dpi_silo_scheme_named(named ? argv[1] : "secagg+dp");
    argc -= named;
    argv += named;
    all.owners = argc > 3 ? strtoul(argv[1], NULL, 10) : 3;
    all.numbers = argc > 3 ? strtoul(argv[2], NULL, 10) : 7850;
    all.rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : 200;
    all.mailbox = argc > 4 ? argv[4] : NULL;
    all.authorities = argc > 5 ? argv[5] : NULL;
    size_t who[MOST];
    pthread_t threads[MOST];
    dpi_arena arena = {NULL};
    if (all.scheme->by_columns || all.owners < 1 || all.owners > MOST || all.numbers < 1 ||
        all.rounds < 1 || set_up(&arena))
        return 1;
    const double clock = bench_now(), processor = bench_processor();
    for (size_t k = 0; k < all.owners; k++) {
        who[k] = k;
        if (pthread_create(&threads[k], NULL, act, &who[k]) != 0)
            return 1;
    }
    for (size_t k = 0; k < all.owners; k++)
        (void)pthread_join(threads[k], NULL);
    const double took = bench_now() - clock, used = bench_processor() - processor;
    for (size_t k = 0; k < all.owners; k++) {
        char lock[264];
        (void)unlink(all.states[k]);
        (void)snprintf(lock, sizeof lock, "%s.lock", all.states[k]);
        (void)unlink(lock);
    }
    for (size_t k = 0; k < all.owners; k++)
        if (outcome[k] != DP_OK) {
            (void)fprintf(stderr, "%s: %s\n", all.names[k], errors[k].text);
            return 1;
        }
    printf("{\"bench\": \"silo-sum\", \"scheme\": \"%s\", \"owners\": %zu, \"numbers\": %zu, "
           "\"rounds\": %zu, \"letters\": \"%s\", ",
           all.scheme->name, all.owners, all.numbers, all.rounds, letters());
    bench_number("processor_ms", 1e3 * used / (double)(all.rounds * all.owners));
    bench_number("clock_ms", 1e3 * took / (double)all.rounds);
    bench_end_line();
    dpi_letter_box_free(all.box);
    dpi_arena_free(&arena);
    return 0;
}
