/* A small fit that can be interrupted, with its journal and its ledger, in the tests' folder. */
#ifndef TACIT_TESTS_INFER_SCENE_H
#define TACIT_TESTS_INFER_SCENE_H

#include <tacit/infer.h>

#include "tests/infer/readers.h"

/* Room for a file; releases of the fit; draws that it keeps. */
enum { SCENE_FILE = 1 << 20, SCENE_PLANNED = 1 + 2 + 3 + 6 + 2 + 6 + 1 + 2 + 1, SCENE_KEPT = 400 };

typedef struct scene {
    dp_model *model;
    reader_records records;
    dp_dataset *data;
    dp_ledger *ledger;
    dp_fit_opts opts;
    uint64_t stop_at;
    char journal[256]; /* its path */
} scene;

/* Watches a fit: it ends when s->stop_at releases have been made. */
int scene_stop(void *s, const dp_fit_progress *at);

/* The fit of a reader's model (readers.h), with a journal that is not there yet. */
void scene_set_up(scene *s, const char *model);
void scene_tear_down(scene *s);

/* A budget that such a fit, and no more than `room` of one more, fits into. */
void scene_open_ledger(scene *s, double room);

/* Fits; draws[SCENE_KEPT] [out], nullable, of the first number of a latent. */
dp_status scene_fit(scene *s, bool resume, double *draws, dp_error *err);

/* Going on fails, with that in the message, and makes no release. */
void scene_refused(scene *s, dp_status expected, const char *why);

/* A file of the folder. */
size_t scene_load(const char *name, unsigned char bytes[SCENE_FILE]);
void scene_store(const char *name, const unsigned char *bytes, size_t n);

#endif
