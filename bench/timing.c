/* Whether the times of decryption and encryption tell of what is decrypted and encrypted: a line
 * for each operation, with |t| of the comparison of a fixed secret with random ones, the difference
 * that would have been certain (|t| = 10), and |t| with a planted comparison that ends early.
 *
 *   timing [--seconds 20] [--bits 2048] */
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/options.h"
#include "tests/crypto/timing.h"

enum { LEAST = 400, INPUTS = 512 };

static const double share = 0.02; /* of the time that the planted comparison takes */

static void measure(const timing_case *c, double seconds)
{
    size_t samples = timing_samples(c, seconds / 2, LEAST);
    timing_result as_it_is = timing_measure(c, samples, 0);
    timing_result planted = timing_measure(c, samples, timing_steps(c, share));
    (void)printf("{\"kernel\": \"timing/%s\", \"backend\": \"%s\", \"samples\": %zu, ", c->name,
                 c->backend, samples);
    bench_number("us", as_it_is.mean * 1e6);
    bench_number("t", as_it_is.t);
    bench_number("certain_ns", as_it_is.seen * 1e9);
    bench_number("certain_percent", 100 * as_it_is.seen / as_it_is.mean);
    bench_number("planted_percent", 100 * share);
    bench_number("t_planted", planted.t);
    bench_end_line();
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    double seconds = 20, bits = 2048;
    const bench_option options[] = {{.name = "--seconds", .number = &seconds},
                                    {.name = "--bits", .number = &bits}};
    bench_options(argc, argv, sizeof options / sizeof *options, options);
    timing_case c;
    timing_scene *scene = timing_scene_new((size_t)bits, INPUTS);
    for (size_t k = 0; timing_scene_case(scene, k, &c); k++)
        if (c.run != NULL)
            measure(&c, seconds);
    timing_scene_free(scene);
    return 0;
}
