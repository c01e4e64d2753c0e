#include "tests/fhe/toy.h"

#include <math.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

void toy_begin(toy *t, const dpi_ckks_spec *spec, const dpi_ckks_upper *above, unsigned char seed,
               const char *what)
{
    static const dpi_ckks_upper none;
    const unsigned char key[DPI_RLWE_SEED] = {seed};
    const dpi_ckks_upper *upper = above == NULL ? &none : above;
    dp_error err = {0};
    memset(t, 0, sizeof *t);
    dpi_rlwe_start(&t->random, key, what);
    assert_ok(above == NULL ? dpi_ckks_new(spec, &t->c, &err)
                            : dpi_ckks_new_above(spec, above, &t->c, &err),
              err.text);
    assert_ok(dpi_ckks_room_new(t->c, &t->room, &err), err.text);
    assert_ok(dpi_ckks_secret_new(t->c, &t->random, &t->secret, &err), err.text);
    assert_ok(dpi_ckks_switch_new(t->secret, DPI_CKKS_SQUARE, &t->random, &t->square, &err),
              err.text);
    t->places = dpi_ckks_n(t->c) / 2;
    t->top = spec->depth + upper->squares + upper->plains;
    t->turns = (dpi_ckks_turns){.steps = t->steps, .key = (const dpi_ckks_switch *const *)t->made};
}

void toy_end(toy *t)
{
    for (size_t k = 0; k < t->turns.n; k++)
        dpi_ckks_switch_free(t->made[k]);
    dpi_ckks_switch_free(t->square);
    dpi_ckks_secret_free(t->secret);
    dpi_ckks_room_free(t->room);
    dpi_ckks_free(t->c);
    dpi_rlwe_end(&t->random);
}

void toy_empty_room(toy *t)
{
    dp_error err = {0};
    dpi_ckks_room_free(t->room);
    assert_ok(dpi_ckks_room_new(t->c, &t->room, &err), err.text);
}

void toy_add_turn(toy *t, int steps)
{
    dp_error err = {0};
    size_t at = 0;
    while (at < t->turns.n && t->steps[at] != steps)
        at++;
    if (at < t->turns.n)
        return;
    assert_true(at < TOY_TURNS);
    assert_ok(dpi_ckks_switch_new(t->secret, dpi_ckks_rotation(t->c, steps), &t->random,
                                  &t->made[at], &err),
              err.text);
    t->steps[at] = steps;
    t->turns.n = at + 1;
}

dpi_ckks_cipher toy_encrypted(toy *t, size_t level, size_t places, const double *re)
{
    dpi_ckks_plain p;
    dpi_ckks_cipher made;
    dp_error err = {0};
    assert_ok(dpi_ckks_plain_new(t->c, level, &p, &err), err.text);
    assert_ok(dpi_ckks_encode(t->c, level, 0, places, re, NULL, t->room, &p, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(t->c, t->top, &made, &err), err.text);
    dpi_ckks_encrypt(t->secret, &p, &t->random, t->room, &made);
    dpi_ckks_plain_free(&p);
    return made;
}

void toy_decrypted(toy *t, const dpi_ckks_cipher *x, size_t places, double *re, double *im)
{
    dpi_ckks_plain p;
    dp_error err = {0};
    assert_ok(dpi_ckks_plain_new(t->c, x->level, &p, &err), err.text);
    dpi_ckks_decrypt(t->secret, x, &p);
    dpi_ckks_decode(t->c, &p, places, t->room, re, im);
    dpi_ckks_plain_free(&p);
}

void toy_draw(uint64_t *seed, size_t n, double size, double *x)
{
    for (size_t k = 0; k < n; k++)
        x[k] = size * next_number(seed);
}

double toy_largest(size_t n, const double *a, const double *b)
{
    double most = 0;
    for (size_t k = 0; k < n; k++)
        most = fmax(most, fabs(a[k] - b[k]));
    return most;
}
