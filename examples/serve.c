/* A provider's model is asked about records that it does not see: both ends in one program.
 * "serve FOLDER" makes the folder, with the files that they have.  The weights stand here, of
 * nobody's data; dp_program_of_fit (tacit/lower.h) makes the program of a fit. */
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <tacit/serve.h>
#include <unistd.h>

static const double weights[] = {2, -1, .5}, bias[] = {-.25}; /* log odds of 1 */
static const double asked[][3] = {{0, 0, 0}, {1, -1, 1}, {-1, .5, 0}};
static const char terms[] = "client = %s the doctor\nqueries = 100\nwindow = 3600\n"
                            "returns = scores\nprotocols = he2-paillier\nmodes = linear\n";

static void *provide(void *server)
{
    return dp_server_run(server, NULL) == DP_OK ? server : NULL;
}

static dp_status ask_all(const dp_ask_opts *opts, dp_error *err)
{
    dp_ask *ask;
    int64_t answer;
    double chance;
    dp_status status = dp_ask_new(opts, &ask, err);
    for (int i = 0; !status && i < 3 && !(status = dp_ask_query(ask, asked[i], &answer, err)); i++)
        dp_program_decode(dp_ask_program(ask), &answer, &chance, NULL), printf("%.3f\n", chance);
    dp_ask_free(ask);
    return status;
}

int main(int argc, char **argv)
{
    dp_error err = {0};
    dp_identity *clinic, *doctor;
    dp_server *server;
    pthread_t thread;
    char port[8];
    dp_program *p = dp_program_new();
    dp_program_dense(p, dp_program_input(p, 3, "x", -1, 1), 1, weights, bias);
    dp_program_answer(p, DP_LINK_LOGISTIC, 1);
    if (umask(077), argc != 2 || mkdir(argv[1], 0700) || chdir(argv[1]))
        return fprintf(stderr, "serve: give a folder that is not there yet\n"), 2;
    FILE *policy = fopen("policy", "w");
    if (dp_program_fix(p, NULL, &err) || dp_identity_new("clinic.identity", &clinic, &err) ||
        dp_identity_new("doctor.identity", &doctor, &err) || policy == NULL)
        return fprintf(stderr, "serve: %s\n", err.text), 1;
    const dp_server_opts o = {p, clinic, "policy", "log", .host = "127.0.0.1", .port = "0"};
    if (fprintf(policy, terms, dp_identity_fingerprint(doctor)) < 0 || fclose(policy) ||
        dp_server_new(&o, &server, &err) || pthread_create(&thread, NULL, provide, server))
        return fprintf(stderr, "serve: %s\n", err.text), 1;
    snprintf(port, sizeof port, "%d", dp_server_port(server));
    const dp_ask_opts asks = {doctor, "127.0.0.1", port,
                              .provider = dp_identity_fingerprint(clinic)};
    if (ask_all(&asks, &err))
        fprintf(stderr, "serve: %s\n", err.text);
    dp_server_stop(server), pthread_join(thread, NULL), dp_server_free(server);
    dp_identity_free(clinic), dp_identity_free(doctor), dp_program_free(p);
    return err.status;
}
