/* A model is divided among three parties, who answer and learn nothing: all ends in one program.
 * "parties FOLDER 700" makes the folder, and listens at the ports 7000, 7001 and 7002. */
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <tacit/parties.h>
#include <unistd.h>

enum { PARTIES = 3, CLINIC = PARTIES, DOCTOR, ALL, PATIENT = 300000 /* ms */ };
static const double weights[] = {2, -1, .5}, bias[] = {-.25}; /* log odds of 1 */
static const double asked[][3] = {{0, 0, 0}, {1, -1, 1}, {-1, .5, 0}};
static const char line[] = "party = %d 127.0.0.1 %s%d %s\n";
static const char terms[] = "client = %s the doctor\nqueries = 100\nwindow = 3600\n"
                            "returns = scores\nprotocols = hm3\nmodes = shared\n";
static const char *const key[] = {"0.key", "1.key", "2.key", "clinic.key", "doctor.key"};
static const char *const logs[] = {"0.log", "1.log", "2.log"};

static void *compute(void *party)
{
    return dp_party_run(party, NULL) == DP_OK ? party : NULL;
}

int main(int argc, char **argv)
{
    dp_error err = {0};
    dp_identity *who[ALL];
    dp_parties *list;
    dp_party *party[PARTIES];
    pthread_t thread[PARTIES];
    dp_ask *ask;
    dp_program *p = dp_program_new();
    dp_program_dense(p, dp_program_input(p, 3, "x", -1, 1), 1, weights, bias);
    dp_program_answer(p, DP_LINK_LOGISTIC, 1);
    int bad = dp_program_fix(p, NULL, &err);
    if (umask(077), argc != 3 || mkdir(argv[1], 0700) || chdir(argv[1]))
        return fprintf(stderr, "parties: give a folder that is not there yet, and a port\n"), 2;
    for (int i = 0; i < ALL; i++)
        bad = bad || dp_identity_new(key[i], &who[i], &err);
    FILE *file = bad ? NULL : fopen("policy", "w"), *names = bad ? NULL : fopen("list", "w");
    for (int i = 0; i < PARTIES && names; i++)
        fprintf(names, line, i, argv[2], i, dp_identity_fingerprint(who[i]));
    bad = !names || fprintf(names, "provider = %s", dp_identity_fingerprint(who[CLINIC])) < 0 ||
          !file || fprintf(file, terms, dp_identity_fingerprint(who[DOCTOR])) < 0 ||
          fclose(names) || fclose(file) || dp_parties_load("list", &list, &err);
    for (int i = 0; i < PARTIES && !bad; i++) {
        const dp_party_opts o = {list, (size_t)i, who[i], "policy", logs[i], .timeout_ms = PATIENT};
        bad = dp_party_new(&o, party + i, &err) || pthread_create(thread + i, 0, compute, party[i]);
    }
    int64_t y[3];
    size_t n;
    const dp_share_opts shared = {p, who[CLINIC], list, .timeout_ms = PATIENT};
    const dp_ask_parties_opts asks = {who[DOCTOR], list, .timeout_ms = PATIENT};
    if (bad || dp_share_program(&shared, &err) || dp_ask_parties_new(&asks, &ask, &err) ||
        dp_ask_many(ask, 3, asked[0], y, &n, &err))
        return fprintf(stderr, "parties: %s\n", err.text), 1;
    for (double chance; n > 0; n--)
        dp_program_decode(p, &y[3 - n], &chance, NULL), printf("%.3f\n", chance);
    for (int i = (dp_ask_free(ask), 0); i < PARTIES; i++)
        dp_party_stop(party[i]), pthread_join(thread[i], NULL), dp_party_free(party[i]);
    for (int i = (dp_parties_free(list), dp_program_free(p), 0); i < ALL; i++)
        dp_identity_free(who[i]);
}
