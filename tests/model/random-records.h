/* Records that every model of random-model.h can be fitted to and evaluated at. */
#ifndef TESTS_MODEL_RANDOM_RECORDS_H
#define TESTS_MODEL_RANDOM_RECORDS_H

#include <tacit/dataset.h>

enum {
    RANDOM_RECORDS = 6,
    RECORD_VECTOR = 3, /* numbers of "x" and "vector", categories of "label" */
    RECORD_PLACES = 9, /* of "image", 3 x 3 */
    RECORD_CHANNELS = 2,
    RECORD_WORDS = 2,  /* in "words" */
    RECORD_GROUPS = 4, /* of "words" and "group" */
    RECORD_GREY = 8    /* bytes of "grey", up to 255 */
};

/* Real "x", "image", "real", "vector"; "binary" of 0 and 1, "count" up to 8; group numbers "words",
 * "group", "label"; bytes "grey". */
typedef struct random_records {
    dp_dataset *data;
    double real[6][RANDOM_RECORDS * RECORD_PLACES * RECORD_CHANNELS];
    int32_t index[3][RANDOM_RECORDS * RECORD_WORDS];
    unsigned char grey[RANDOM_RECORDS * RECORD_GREY];
} random_records;

void random_records_new(random_records *r, uint64_t number);
void random_records_free(random_records *r);

#endif
