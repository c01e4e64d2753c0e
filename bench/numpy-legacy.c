/* MT19937 (Matsumoto and Nishimura, 1998) with doubles of 53 bits, normal numbers by the polar
 * method with one kept back, whole numbers by masked rejection, and Bernoulli draws by inversion,
 * reflected above one half. */
#include "numpy-legacy.h"

#include <math.h>

enum { WORDS = 624, AHEAD = 397 };

void numpy_legacy_seed(numpy_legacy *g, uint32_t seed)
{
    *g = (numpy_legacy){.next = WORDS};
    g->state[0] = seed;
    for (uint32_t i = 1; i < WORDS; i++) {
        uint32_t before = g->state[i - 1];
        g->state[i] = UINT32_C(1812433253) * (before ^ (before >> 30)) + i;
    }
}

static void refill(numpy_legacy *g)
{
    for (int i = 0; i < WORDS; i++) {
        uint32_t y = (g->state[i] & UINT32_C(0x80000000)) |
                     (g->state[(i + 1) % WORDS] & UINT32_C(0x7fffffff));
        g->state[i] = g->state[(i + AHEAD) % WORDS] ^ (y >> 1) ^ ((y & 1) * UINT32_C(0x9908b0df));
    }
    g->next = 0;
}

static uint32_t word(numpy_legacy *g)
{
    if (g->next == WORDS)
        refill(g);
    uint32_t y = g->state[g->next++];
    y ^= y >> 11;
    y ^= (y << 7) & UINT32_C(0x9d2c5680);
    y ^= (y << 15) & UINT32_C(0xefc60000);
    return y ^ (y >> 18);
}

/* 27 + 26 bits, in [0, 1). */
static double unit(numpy_legacy *g)
{
    double high = word(g) >> 5, low = word(g) >> 6;
    return (high * 0x1p26 + low) * 0x1p-53;
}

double numpy_legacy_normal(numpy_legacy *g)
{
    double a, b, r;
    if (g->has_spare) {
        g->has_spare = false;
        return g->spare;
    }
    do {
        a = 2 * unit(g) - 1;
        b = 2 * unit(g) - 1;
        r = a * a + b * b;
    } while (r >= 1 || r == 0);
    double f = sqrt(-2 * log(r) / r);
    g->spare = f * a;
    g->has_spare = true;
    return f * b;
}

uint32_t numpy_legacy_below(numpy_legacy *g, uint32_t n)
{
    uint32_t mask = n - 1, value;
    for (int shift = 1; shift < 32; shift *= 2)
        mask |= mask >> shift;
    do
        value = word(g) & mask;
    while (value > n - 1);
    return value;
}

bool numpy_legacy_bernoulli(numpy_legacy *g, double p)
{
    bool reflected = p > 0.5;
    double rarer = reflected ? 1 - p : p;
    bool one = unit(g) > 1 - rarer;
    return one != reflected;
}
