/* A change is of a bit, a byte, a number of 8 bytes, or a stretch that is copied elsewhere; or the
 * end is cut off.  Most often there are one or two. */
#include "tests/fit/mutate.h"

#include <stdlib.h>
#include <string.h>

#include "fit/file.h"
#include "tests/lib/check.h"

enum { HEAD = 64 };

/* splitmix64 (Steele, Lea, Flood 2014). */
static size_t draw(uint64_t *state, size_t below)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((z ^ (z >> 31)) % below);
}

int survives(const unsigned char *bytes, size_t n)
{
    dp_error err = {0};
    dp_fit *fit;
    dpi_bytes again = {0};
    dp_status status = dpi_fit_restore(bytes, n, &fit, &err);
    assert_int_equal(status, err.status);
    if (status != DP_OK) {
        assert_null(fit);
        assert_true(strlen(err.text) > 20);
        return 0;
    }
    assert_ok(dpi_fit_store(fit, &again, &err), err.text);
    assert_int_equal(again.n, n);
    assert_memory_equal(again.at, bytes, n);
    dpi_bytes_free(&again);
    dp_fit_free(fit);
    return 1;
}

static void change(unsigned char *bytes, size_t *n, uint64_t *state)
{
    static const uint64_t numbers[] = {0,          1,          2,          4,
                                       UINT64_MAX, 0x7fffffff, 0xffffffff, UINT64_C(1) << 40,
                                       INT64_MAX,  64,         1 << 16,    UINT64_C(1) << 61};
    size_t at = draw(state, *n);
    size_t word = at / 8 * 8;
    switch (draw(state, 8)) {
    case 0:
        bytes[at] = (unsigned char)draw(state, 256);
        break;
    case 1:
    case 2:
        bytes[at] ^= (unsigned char)(1 << draw(state, 8));
        break;
    case 3:
    case 4:
        if (word + 8 <= *n)
            dpi_put_number(bytes + word, numbers[draw(state, sizeof numbers / sizeof numbers[0])]);
        break;
    case 5:
        if (word + 8 <= *n)
            dpi_put_number(bytes + word, dpi_get_number(bytes + word) + draw(state, 5) - 2);
        break;
    case 6: {
        size_t from = draw(state, *n) / 8 * 8, most = *n - (from > word ? from : word);
        memmove(bytes + word, bytes + from, draw(state, most < 256 ? most + 1 : 256));
        break;
    }
    default:
        if (draw(state, 4) == 0)
            *n = 1 + draw(state, *n);
        break;
    }
}

size_t mutate(const unsigned char *bytes, size_t n, size_t count, uint64_t seed)
{
    size_t fits = 0;
    for (size_t k = 0; k < count; k++) {
        unsigned char *copy = malloc(n);
        size_t size = n;
        assert_non_null(copy);
        memcpy(copy, bytes, n);
        for (size_t i = 1 + draw(&seed, 3) / 2 * draw(&seed, 4); i > 0; i--)
            change(copy, &size, &seed);
        unsigned char *exact = malloc(size); /* shows what is read beyond the end */
        assert_non_null(exact);
        memcpy(exact, copy, size);
        free(copy);
        bool same = size == n && memcmp(exact, bytes, n) == 0;
        assert_int_equal(survives(exact, size), same);
        if (size >= HEAD) {
            if (draw(&seed, 2) == 0)
                dpi_put_number(exact + 16, size);
            dpi_fit_seal(exact, size);
            fits += (size_t)survives(exact, size);
        }
        free(exact);
    }
    return fits;
}
