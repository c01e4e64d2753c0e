/* A program for people: a line for each stage. */
#include "program/program.h"

/* Products of the stage for one record. */
static double products(const dp_stage *s)
{
    size_t stops = s->shape[0] * s->shape[1];
    return (double)s->n_weights * (double)(s->n_bias > 0 ? stops : 0);
}

static void shape_words(const dp_stage *s, char *words, size_t size)
{
    if (s->shape[0] == 1 && s->shape[1] == 1)
        (void)snprintf(words, size, "%zu", s->shape[2]);
    else
        (void)snprintf(words, size, "%zu x %zu x %zu", s->shape[0], s->shape[1], s->shape[2]);
}

static bool print_stage(const dp_program *p, size_t k, FILE *to)
{
    const dp_stage *s = &p->stages[k];
    char shape[64], reads[32] = "";
    shape_words(s, shape, sizeof shape);
    if (s->in[1] >= 0)
        (void)snprintf(reads, sizeof reads, "%d, %d", s->in[0], s->in[1]);
    else if (s->in[0] >= 0)
        (void)snprintf(reads, sizeof reads, "%d", s->in[0]);
    return fprintf(to, "%5zu  %-12s  %-8s %16s  %8d  %5d  %4d  %10.0f\n", k, dp_stage_name(s->kind),
                   reads, shape, s->fraction, s->shift, s->bits, products(s)) > 0;
}

dp_status dp_program_print(const dp_program *p, FILE *to, dp_error *err)
{
    if (!p->fixed)
        return dpi_fail(err, DP_ESTATE, "fix the program first, by dp_program_fix");
    double sum = 0;
    bool good = fprintf(to, "stage  kind          reads               shape  fraction  shift  bits"
                            "    products\n") > 0;
    for (size_t k = 0; good && k < p->n_stages; k++) {
        good = print_stage(p, k, to);
        sum += products(&p->stages[k]);
    }
    good =
        good && fprintf(to,
                        "%zu numbers in, %zu out; %.0f products; every number of every "
                        "stage fits in %d bits and a sign\n",
                        dp_program_inputs(p), dp_program_outputs(p), sum, dp_program_bits(p)) > 0;
    return good ? DP_OK : dpi_fail(err, DP_EIO, "the program cannot be written");
}
