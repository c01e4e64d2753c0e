/* The command program: shows the program that is served of a model, and runs it in the clear. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/parties.h>
#include <tacit/serve.h>

#include "tools/json.h"
#include "tools/load-program.h"
#include "tools/options.h"
#include "tools/records.h"
#include "tools/tacit.h"

static int refuse(int status, const char *text)
{
    (void)fprintf(stderr, "tacit program: %s\n", text);
    return status;
}

/* ---- show ---- */

static void show_stage(json *j, const dp_stage *s)
{
    static const char *const of[] = {"in", "and"};
    json_object(j, NULL);
    json_text(j, "kind", dp_stage_name(s->kind));
    for (int i = 0; i < 2; i++)
        if (s->in[i] >= 0)
            json_count(j, of[i], (unsigned long long)s->in[i]);
    json_count(j, "rows", s->shape[0]);
    json_count(j, "columns", s->shape[1]);
    json_count(j, "channels", s->shape[2]);
    json_count(j, "weights", s->n_weights);
    json_number(j, "fraction", s->fraction);
    json_number(j, "shift", s->shift);
    json_count(j, "bits", (unsigned long long)s->bits);
    json_end_object(j);
}

/* The cost of a query in the mode that shows least; false, with why, where there is none. */
static bool find_cost(const dp_program *p, int protocol, const settings *s, dp_serve_mode *mode,
                      dp_query_cost *cost, dp_error *err)
{
    size_t key_bits = s->key_bits < 0 ? 0 : (size_t)s->key_bits;
    dp_status status = DP_EPRIVACY;
    for (*mode = DP_SERVE_LINEAR; status == DP_EPRIVACY && *mode <= DP_SERVE_PERMUTE; (*mode)++)
        status = dp_serve_cost(p, (dp_serve_protocol)protocol, *mode, key_bits, cost, err);
    (*mode)--;
    return status == DP_OK;
}

static void show_costs(const dp_program *p, const settings *s)
{
    dp_serve_mode mode;
    dp_query_cost c;
    dp_error err = {DP_OK, ""};
    (void)printf("\nprotocol  mode     rounds    key bytes           up         down  encrypted"
                 "    products  decrypted\n");
    for (int k = DP_SERVE_PAILLIER; k <= DP_SERVE_CKKS; k++)
        if (find_cost(p, k, s, &mode, &c, &err))
            (void)printf("%-8s  %-7s  %6zu  %11llu  %11llu  %11llu  %9llu  %10llu  %9llu\n",
                         option_word_of("protocol", k), option_word_of("mode", (int)mode), c.rounds,
                         (unsigned long long)c.key, (unsigned long long)c.up,
                         (unsigned long long)c.down, (unsigned long long)c.encrypted,
                         (unsigned long long)c.products, (unsigned long long)c.decrypted);
        else
            (void)printf("%-8s  cannot serve it: %s\n", option_word_of("protocol", k), err.text);
}

/* Of one record, among three parties and among four. */
static void show_shared_costs(const dp_program *p, const settings *s)
{
    dp_shared_cost c;
    dp_error err = {DP_OK, ""};
    (void)printf("\nparties  bits  rounds           up         down        dealt       online\n");
    for (size_t n = 3; n <= 4; n++)
        if (dp_parties_cost(p, n, 1, s->probabilistic, &c, &err) == DP_OK)
            (void)printf("%-7zu  %4d  %6zu  %11llu  %11llu  %11llu  %11llu\n", n, c.bits, c.rounds,
                         (unsigned long long)c.up, (unsigned long long)c.down,
                         (unsigned long long)c.dealt, (unsigned long long)c.online);
        else
            (void)printf("%-7zu  cannot serve it: %s\n", n, err.text);
}

static void tell_shared_cost(json *j, const dp_program *p, size_t parties, const settings *s)
{
    dp_shared_cost c;
    dp_error err = {DP_OK, ""};
    json_object(j, NULL);
    json_count(j, "parties", parties);
    if (dp_parties_cost(p, parties, 1, s->probabilistic, &c, &err) != DP_OK) {
        json_text(j, "refused", err.text);
    } else {
        json_count(j, "ring_bits", (unsigned long long)c.bits);
        json_count(j, "rounds", c.rounds);
        json_count(j, "up_bytes", c.up);
        json_count(j, "down_bytes", c.down);
        json_count(j, "dealt_bytes", c.dealt);
        json_count(j, "online_bytes", c.online);
    }
    json_end_object(j);
}

static void tell_cost(json *j, const dp_program *p, int protocol, const settings *s)
{
    dp_serve_mode mode;
    dp_query_cost c;
    dp_error err = {DP_OK, ""};
    json_object(j, NULL);
    json_text(j, "protocol", option_word_of("protocol", protocol));
    if (!find_cost(p, protocol, s, &mode, &c, &err)) {
        json_text(j, "refused", err.text);
    } else {
        json_text(j, "mode", option_word_of("mode", (int)mode));
        json_count(j, "rounds", c.rounds);
        json_count(j, "key_bytes", c.key);
        json_count(j, "up_bytes", c.up);
        json_count(j, "down_bytes", c.down);
        json_count(j, "encrypted", c.encrypted);
        json_count(j, "products", c.products);
        json_count(j, "decrypted", c.decrypted);
    }
    json_end_object(j);
}

static dp_status show(const char *path, const settings *s, const dp_program *p, dp_error *err)
{
    static const char *const links[] = {"identity", "logistic", "exp", "softmax"};
    unsigned char hash[DP_PROGRAM_HASH];
    char digits[2 * DP_PROGRAM_HASH + 1];
    dp_status status = dp_program_hash(p, hash, err);
    if (status != DP_OK)
        return status;
    for (size_t i = 0; i < sizeof hash; i++)
        (void)snprintf(digits + 2 * i, 3, "%02x", hash[i]);
    if (!s->json) {
        status = dp_program_print(p, stdout, err);
        if (status == DP_OK)
            (void)printf("\nlink %s, draws %zu, program %s\n", links[dp_program_link(p)],
                         dp_program_draws(p), digits);
        if (status == DP_OK) {
            show_costs(p, s);
            show_shared_costs(p, s);
        }
        return status;
    }
    json j = json_begin(stdout);
    json_text(&j, "command", "program");
    json_text(&j, "verb", "show");
    json_text(&j, "file", path);
    json_text(&j, "program", digits);
    json_text(&j, "link", links[dp_program_link(p)]);
    json_count(&j, "draws", dp_program_draws(p));
    json_count(&j, "bits", (unsigned long long)dp_program_bits(p));
    json_list(&j, "stages");
    for (size_t k = 0; k < dp_program_stages(p); k++)
        show_stage(&j, dp_program_stage(p, k));
    json_end_list(&j);
    json_list(&j, "protocols");
    for (int k = DP_SERVE_PAILLIER; k <= DP_SERVE_CKKS; k++)
        tell_cost(&j, p, k, s);
    for (size_t n = 3; n <= 4; n++)
        tell_shared_cost(&j, p, n, s);
    json_end_list(&j);
    json_end(&j);
    return DP_OK;
}

/* ---- run ---- */

static dp_status fail(dp_error *err, dp_status status, const char *text)
{
    err->status = status;
    (void)snprintf(err->text, sizeof err->text, "%s", text);
    return status;
}

/* The output's numbers for x: of the real stages, or of the integers, v / 2^fraction. */
static dp_status run_program(const dp_program *p, bool exact, size_t n, const double *x, double *y,
                             dp_error *err)
{
    size_t inputs = dp_program_inputs(p), outputs = dp_program_outputs(p);
    int fraction = dp_program_stage(p, dp_program_stages(p) - 1)->fraction;
    int64_t *v = calloc(inputs, sizeof *v), *w = calloc(outputs, sizeof *w);
    dp_status status = v == NULL || w == NULL ? fail(err, DP_ENOMEM, "out of memory") : DP_OK;
    for (size_t i = 0; status == DP_OK && i < n; i++) { /* bounds hold for both ways */
        status = dp_program_encode(p, 1, x + i * inputs, v, err);
        if (status == DP_OK && exact)
            status = dp_program_run_exact(p, 1, v, w, err);
        for (size_t k = 0; status == DP_OK && exact && k < outputs; k++)
            y[i * outputs + k] = ldexp((double)w[k], -fraction);
    }
    if (status == DP_OK && !exact)
        status = dp_program_run(p, n, x, y, err);
    free(v);
    free(w);
    return status;
}

static void tell_scores(const char *path, const settings *s, size_t n, size_t m, const double *y)
{
    if (!s->json) {
        for (size_t i = 0; i < n * m; i++)
            (void)printf("%.9g%c", y[i], (i + 1) % m == 0 ? '\n' : '\t');
        return;
    }
    json j = json_begin(stdout);
    json_text(&j, "command", "program");
    json_text(&j, "verb", "run");
    json_text(&j, "file", path);
    json_truth(&j, "exact", s->exact);
    json_list(&j, "scores");
    for (size_t i = 0; i < n; i++) {
        json_list(&j, NULL);
        for (size_t k = 0; k < m; k++)
            json_number(&j, NULL, y[i * m + k]);
        json_end_list(&j);
    }
    json_end_list(&j);
    json_end(&j);
}

static dp_status run_records(const char *path, const settings *s, const dp_program *p,
                             dp_error *err)
{
    size_t n = 0, m = dp_program_outputs(p);
    double *x = NULL;
    dp_status status = read_records(s->data, p, &n, &x, err);
    double *y = status == DP_OK ? calloc(n, m * sizeof *y) : NULL;
    if (status == DP_OK && y == NULL)
        status = fail(err, DP_ENOMEM, "out of memory");
    if (status == DP_OK)
        status = run_program(p, s->exact, n, x, y, err);
    if (status == DP_OK)
        tell_scores(path, s, n, m, y);
    free(x);
    free(y);
    return status;
}

/* ---- the command ---- */

static bool check(const char *verb, const settings *s, message *why)
{
    if (strcmp(verb, "run") == 0)
        return s->data != NULL || complain(why, "of which records? give --data FILE, CSV or NPY");
    if (strcmp(verb, "show") != 0)
        return complain(why, "there is no tacit program %.40s; give show or run", verb);
    return (s->data == NULL && !s->exact) || complain(why, "--data and --exact are for run");
}

static int run(const command *self, int argc, char **argv)
{
    settings said = settings_none();
    message why = {""};
    dp_error err = {DP_OK, ""};
    dp_program *p;
    if (argc > 0 && strcmp(argv[argc - 1], "--help") == 0) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    if (argc < 2 || argv[1][0] == '-')
        return refuse(EXIT_USAGE, "what is to be done, and with which model? as in: tacit program "
                                  "show digits.onnx --range 0,1");
    if (!options_parse(self->options, argc - 2, argv + 2, &said, &why) ||
        !check(argv[0], &said, &why))
        return refuse(EXIT_USAGE, why.text);
    dp_status status = load_program(argv[1], &said, &p, &err);
    if (status == DP_OK)
        status = strcmp(argv[0], "show") == 0 ? show(argv[1], &said, p, &err)
                                              : run_records(argv[1], &said, p, &err);
    dp_program_free(p);
    if (status == DP_OK)
        return EXIT_CERTIFIED;
    return refuse(status == DP_EINVAL ? EXIT_USAGE : EXIT_REFUSED,
                  err.text[0] != '\0' ? err.text : dp_status_text(status));
}

const command command_program = {
    "program",
    FOR_PROGRAM,
    "what is served of a model: its stages, and what they compute in the clear",
    "tacit program show|run MODEL [options]\n\n"
    "MODEL is the file of a fit, or of a network (ONNX).  show prints the stages that are\n"
    "served of it, with their scales and bits, and what a query costs by each protocol; run\n"
    "computes the output's numbers of records, before the link: in real numbers, or with\n"
    "--exact in the integers that every protocol arrives at.",
    "tacit program run digits.onnx --range 0,1 --data digits.npy --exact",
    run};
