/* Models that are served: the data that they learn, how they are trained, and a loopback over which
 * they are asked.  Everything ends the program with a message where it fails. */
#ifndef BENCH_SERVED_H
#define BENCH_SERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tacit/parties.h>
#include <tacit/serve.h>
#include <tacit/tacit.h>

/* Records, with the columns that models read: x [n][inputs], y, and for some a group. */
typedef struct served_set {
    size_t n;
    double *x, *outcome; /* outcome: the labels as numbers */
    int32_t *label, *group;
    dp_dataset *numbers, *classes; /* the columns, with y as a number or as a class */
} served_set;

typedef struct served_data {
    served_set train, test;
    size_t inputs, classes, groups; /* groups 0: none */
    double low, high;               /* public bounds of each x */
    size_t fold;                    /* 0 ... 4 */
} served_data;

/* The data set `name` of a folder with wdbc, heart, cardio, bangladesh, mnist in folders of their
 * own.  Of tables records fold, fold + 5, fold + 10, ... are for testing; MNIST has a test set. */
void served_read(const char *folder, const char *name, uint64_t fold, served_data *d);
void served_free(served_data *d);

/* Room that is zero. */
void *served_room(size_t n, size_t size);

/* Ends the program unless all is well. */
void served_must(dp_status status, const char *what, const dp_error *err);

typedef struct served_model {
    const char *name, *data;
    const char *form; /* in words, of the linear stages */
    dp_serve_mode mode;
    const struct served_recipe *recipe; /* of a network; NULL: a regression */
} served_model;

/* All models, *n of them; those of one data set stand together. */
const served_model *served_models(size_t *n);

/* LeNet-5 for images of 28 x 28, with logits. */
dp_model *served_lenet(uint64_t seed);

typedef struct served_fit {
    dp_fit *fit;
    double epsilon, delta, seconds; /* epsilon infinite: without privacy; processor time */
    bool hopeless; /* refused by dp_fit_private, because the records tell less than the noise hides,
                    * and made all the same; not known of kept fits */
} served_fit;

/* Trains it; epsilon infinite: without privacy.  With a seed, so that it can be repeated: what is
 * stated is what a run without a seed would have spent.  `keep` (nullable) is a folder where fits
 * are kept, and taken from where they are there. */
served_fit served_train(const served_model *m, const served_data *d, double epsilon, double delta,
                        const char *keep);

/* The program of a fit, before scales are chosen. */
dp_program *served_lower(const served_fit *f, const served_data *d);

/* A model that is computed to its end under encryption: squares, and a link that is a stage. */
typedef struct served_square {
    const char *name, *form;
    dp_link link;
    bool odd; /* whether a digit is odd, of images with a frame: served_widen's */
    size_t epochs;
    double step_size;
    void (*build)(dp_plate rows);
} served_square;
const served_square *served_squares(size_t *n);

/* The digits in frames, 32 x 32, and whether they are odd. */
void served_widen(const served_data *d, served_data *wide);

/* Trained with a fixed seed and lowered, before scales are chosen; `keep` as above. */
dp_program *served_square_program(const served_square *q, const served_data *d, const char *keep);

/* Of one record through parties whose shifts round by chance: how many units of its last place a
 * number of the answer may be off, and what such a unit stands for; how many numbers are shifted,
 * and how many of these are wrong altogether, at most, in the mean. */
typedef struct served_rounding {
    double most, last_place, shifted, wrong;
} served_rounding;
served_rounding served_rounding_of(const dp_program *p);

/* The inputs [n][inputs of the program] of the records. */
double *served_inputs(const dp_program *p, const served_set *s);

/* The class that outputs y[outputs] say: the largest one, or whether a single one is above 0. */
int32_t served_class_of(size_t outputs, const double *y);
int32_t served_class_of_integers(size_t outputs, const int64_t *y);

/* A provider that answers on loopback, in a thread of this process, and a session with it, in which
 * no query is prepared before it is asked, and served_ask_many has in_flight of them at a time;
 * NULL where the protocol cannot hold the program's
 * numbers. */
typedef struct served_session served_session;
served_session *served_open(const dp_program *p, dp_serve_protocol protocol, dp_serve_mode mode,
                            size_t threads, size_t in_flight);

/* Three or four parties on loopback, each in a thread of this process, which have been given the
 * program, and a session with them of at most so many records in a query (0: dp_ask_parties_opts's
 * own) and so many lanes; NULL where it cannot be computed so. */
served_session *served_open_parties(const dp_program *p, size_t parties, size_t records,
                                    size_t lanes, bool probabilistic);
void served_ask(served_session *s, const double *x, int64_t *y);
void served_ask_many(served_session *s, size_t n, const double *x, int64_t *y);
void served_close(served_session *s);

#endif
