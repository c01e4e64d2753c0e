/* Three models with their ELBO written out by hand, two under the mean-field guide and one with a
 * written guide, over the same records. */
#ifndef TESTS_MODEL_SCENE_H
#define TESTS_MODEL_SCENE_H

#include <stdbool.h>

#include <tacit/model.h>

enum { N = 7, GROUPS = 3, MOST = 24, N_SCENES = 3 };
enum { FIELD_SIZE = 19, WRITTEN_SIZE = 6, BLEND_SIZE = 22 }; /* of theta */

extern double x[N][2], y[N];
extern int32_t group[N];

/* A model, perhaps a guide, and its ELBO by hand. */
typedef struct scene {
    dp_model *m, *guide;
    size_t n_theta;
    /* With the noise of row r; closed: divergences between normal distributions are not drawn. */
    double (*prior)(const double *theta, size_t r, bool closed);
    double (*record)(const double *theta, size_t i, size_t r, bool closed);
} scene;

/* Latents of every support in plates and out of them, under the mean-field guide. */
scene field(void);

/* Dependent latents and one of each record, under a written guide. */
scene written(void);

/* A mixture of three components in the plane whose weights are a simplex. */
scene blend(void);

extern scene (*const scenes[N_SCENES])(void);

void leave(scene *s);

/* Fills the records. */
void fill(void);

/* Scattered numbers from -1.2 to 1.2. */
double spread(size_t i);

/* Noise number k of row r: 0 where all records share it, the record's number where they do not. */
double noise_of(size_t k, size_t r);

#endif
