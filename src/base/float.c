/* The floating-point environment.
 *
 * Rounding errors of sums, the grid of the noise and the accountant's outward rounding are derived
 * for IEEE 754 arithmetic as a program finds it: results rounded to nearest, subnormal numbers
 * kept.  A thread can leave that: by fesetround, by the control word of its vector unit, or because
 * something in the process was linked with -ffast-math, which sets the latter before main.  Rounded
 * upward, a clipped gradient is longer than the clip norm by more than is left to rounding, and
 * what is guaranteed no longer holds; so that releases are refused then.
 *
 * fegetround need not know of the vector unit's own mode (on x86-64 it is the old unit's that it
 * tells), so that both are asked: the one by fegetround, the other by what it computes.
 *   1 + t, 1 - t and -1 - t with t = 2^-60 are 1, 1 and -1 only when rounded to nearest;
 *   2^-1022 / 2 is 0 where subnormal results are flushed,
 *   2^-1074 2^60 where subnormal operands are.
 * On x86 the vector unit's control word says the same without the detour through microcode that
 * subnormal numbers take. */
#include "base/float.h"

#include <fenv.h>
#include <float.h>
#include <stdbool.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "base/error.h"

#if defined(__SSE2__)

enum { ROUNDING = 0x6000, FLUSH_RESULTS = 0x8000, FLUSH_OPERANDS = 0x0040 };

static bool rounds_to_nearest(void)
{
    return (_mm_getcsr() & ROUNDING) == 0;
}

static bool keeps_subnormals(void)
{
    return (_mm_getcsr() & (FLUSH_RESULTS | FLUSH_OPERANDS)) == 0;
}

#else

static bool rounds_to_nearest(void)
{
    volatile double one = 1, tiny = 0x1p-60;
    return one + tiny == 1 && one - tiny == 1 && -one - tiny == -1;
}

static bool keeps_subnormals(void)
{
    volatile double normal = DBL_MIN, subnormal = 0x1p-1074, half = 0.5, large = 0x1p60;
    volatile double halved = normal * half, grown = subnormal * large;
    return halved * large > 0 && grown > 0;
}

#endif

dp_status dpi_float_check(dp_error *err)
{
    if (fegetround() != FE_TONEAREST || !rounds_to_nearest())
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "this thread does not round to nearest, for which the bounds on rounding "
                        "hold; call fesetround(FE_TONEAREST) before");
    if (!keeps_subnormals())
        return dpi_fail(
            err, DP_EUNSUPPORTED,
            "this thread makes zeros of subnormal numbers, which the bounds on rounding "
            "keep; call fesetenv(FE_DFL_ENV) before, and link nothing with "
            "-ffast-math");
    return DP_OK;
}

void dpi_float_default(void)
{
    (void)fesetenv(FE_DFL_ENV);
}
