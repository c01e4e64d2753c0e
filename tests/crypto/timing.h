/* Whether times tell of a secret: the same operation on two classes of inputs, one with a fixed
 * secret and one with random ones, in random order, and Welch's t of the difference of the mean
 * times (Reparaz, Balasch and Verbauwhede, DATE 2017).
 *
 * Times are of the thread's processor clock.  Long ones have other causes, so t is also computed of
 * those alone that lie below a quantile of all, for several quantiles; the largest |t| counts.
 * Where there is no difference, t is of the random order alone and nearly normal: |t| > 10 has a
 * chance far below 1e-9. */
#ifndef TESTS_CRYPTO_TIMING_H
#define TESTS_CRYPTO_TIMING_H

#include <stdbool.h>
#include <stddef.h>

enum { TIMING_CERTAIN = 10 /* |t| that shows a difference */ };

typedef struct timing_result {
    double t;    /* largest |t| */
    double mean; /* seconds of an operation, of the times from which that came, and */
    double seen; /* the difference of the classes' means, in seconds, that gives |t| = 10 there */
} timing_result;

/* What is timed. */
typedef struct timing_case {
    const char *name, *backend;
    size_t inputs;                                       /* of each group */
    void (*prepare)(void *of, int group, size_t number); /* puts an input into place; not timed */
    void (*run)(void *of);
    bool (*is_fixed)(const void *of); /* whether what `run` left begins as the fixed secret does */
    void *of;
} timing_case;

/* Of that many operations.  With `steps` there is a leak: a comparison of so many numbers with the
 * fixed secret that ends at the first one that differs. */
timing_result timing_measure(const timing_case *c, size_t samples, size_t steps);

/* Samples that take so many seconds, at least `least`, and steps of a comparison that takes a share
 * of the time of one operation; both roughly. */
size_t timing_samples(const timing_case *c, double seconds, size_t least);
size_t timing_steps(const timing_case *c, double share);

/* ---- what keys' holders do with secrets ---- */

typedef struct timing_scene timing_scene;

/* Keys of Paillier's scheme of `bits` and of the lattice, and `inputs` of each group. */
timing_scene *timing_scene_new(size_t bits, size_t inputs);
void timing_scene_free(timing_scene *scene);

/* Case k; false behind the last.  c->run is NULL where the machine has no such vector unit. */
bool timing_scene_case(timing_scene *scene, size_t k, timing_case *c);

#endif
