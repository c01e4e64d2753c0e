/* Records from a splitmix64 of their number (Steele, Lea, Flood 2014). */
#include "tests/model/random-records.h"

static size_t draw(uint64_t *state, size_t below)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((z ^ (z >> 31)) % below);
}

void random_records_new(random_records *r, uint64_t number)
{
    static const char *const names[] = {"x", "image", "real", "vector", "binary", "count"};
    static const size_t sizes[] = {
        RECORD_VECTOR, RECORD_PLACES * RECORD_CHANNELS, 1, RECORD_VECTOR, 1, 1};
    static const char *const indices[] = {"words", "group", "label"};
    uint64_t state = 97 * number + 5;
    r->data = dp_dataset_new(RANDOM_RECORDS);
    for (size_t k = 0; k < 6; k++) {
        for (size_t i = 0; i < RANDOM_RECORDS * sizes[k]; i++)
            r->real[k][i] = k < 4 ? ((double)draw(&state, 4000) - 2000) / 1371
                                  : (double)draw(&state, k == 4 ? 2 : 9);
        dp_dataset_real(r->data, names[k], sizes[k], r->real[k]);
    }
    for (size_t k = 0; k < 3; k++) {
        size_t d = k == 0 ? RECORD_WORDS : 1;
        for (size_t i = 0; i < RANDOM_RECORDS * d; i++)
            r->index[k][i] = (int32_t)draw(&state, k == 2 ? RECORD_VECTOR : RECORD_GROUPS);
        dp_dataset_indices(r->data, indices[k], d, r->index[k]);
    }
    for (size_t i = 0; i < RANDOM_RECORDS * RECORD_GREY; i++)
        r->grey[i] = (unsigned char)draw(&state, 256);
    dp_dataset_bytes(r->data, "grey", RECORD_GREY, 255, r->grey);
}

void random_records_free(random_records *r)
{
    dp_dataset_free(r->data);
}
