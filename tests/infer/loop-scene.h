/* Small fits by noisy steps that can be interrupted, in the tests' folder. */
#ifndef TESTS_INFER_LOOP_SCENE_H
#define TESTS_INFER_LOOP_SCENE_H

#include "tests/infer/loop-models.h"

enum { LOOP_SCENE_N = 60, LOOP_PLANNED = 1 + 32 + 512, LOOP_FILE = 1 << 20, LOOP_POINTS = 7 };

/* Releases at which a fit ends: the number, norms, between, steps, those averaged, the last. */
extern const uint64_t loop_points[LOOP_POINTS];

typedef struct loop_bytes {
    unsigned char at[LOOP_FILE];
    size_t n;
} loop_bytes;

typedef struct loop_scene {
    loop_records records; /* of which fits have the first LOOP_SCENE_N */
    dp_fit_opts opts;
    uint64_t stop_at; /* releases after which a fit is stopped */
    uint64_t told;    /* releases that it was last told of, and whether they are kept */
    bool kept;
    char journal[256]; /* its path */
} loop_scene;

/* Options of a seeded fit with a journal that is not there yet. */
void loop_scene_begin(loop_scene *s);

/* Fits these data; *made [out], nullable, is the fit's file. */
dp_status loop_scene_fit_data(loop_scene *s, size_t model, const dp_dataset *data, loop_bytes *made,
                              dp_error *err);
dp_status loop_scene_fit(loop_scene *s, size_t model, loop_bytes *made, dp_error *err);

/* The fit stops at a release, which is kept, and is to go on after that. */
void loop_scene_stop(loop_scene *s, size_t model, uint64_t at);

/* It fails, with that in the message, and makes no release. */
void loop_scene_refused(loop_scene *s, size_t model, dp_status expected, const char *why);

/* Files of the folder. */
void loop_load(const char *name, loop_bytes *b);
void loop_store(const char *name, const loop_bytes *b);
void loop_same(const loop_bytes *a, const loop_bytes *b);

#endif
