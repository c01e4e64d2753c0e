/* What places are off by is added up here, as the bounds of each operation alone are too wide:
 * transforms multiply errors of rounding, which have nothing to do with each other, by the root of
 * a row's squares; errors of places that come in, whatever they have to do with each other, come
 * out as they are, a coefficient each; and the sine multiplies them by its slope. */
#include "fhe/boot.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "fhe/boot-parts.h"
#include "fhe/polynomial.h"

/* Places that were bootstrapped are beyond the bound by some bend, and may be again: by this share
 * of the bound, where x / 8 - x^3 / 6 is 9 times the share farther off than at 1. */
static const double slack = 0x1p-10;

/* ---- parameters ---- */

dp_status dpi_ckks_boot_choose(int log_n, size_t usable, int scale_bits, size_t stages, bool toy,
                               dpi_ckks_boot_spec *spec, dp_error *err)
{
    const dpi_ckks_boot_spec s = {{.log_n = log_n,
                                   .first_bits = DPI_MODULUS_BITS,
                                   .scale_bits = scale_bits,
                                   .depth = usable + stages,
                                   .toy = toy},
                                  {DPI_CKKS_BOOT_SQUARES, stages, DPI_MODULUS_BITS - 1}};
    const size_t upper = s.above.squares + s.above.plains, levels = s.below.depth + upper + 1;
    const double bits = DPI_MODULUS_BITS + (double)s.below.depth * (scale_bits + 1e-3) +
                        (double)upper * (s.above.bits + 1e-3);
    size_t least = 0;
    for (size_t alpha = 1; alpha <= levels && levels + alpha <= DPI_CKKS_PRIMES; alpha++) {
        const size_t digits = (levels + alpha - 1) / alpha;
        const size_t cost = digits * (levels + alpha) + 2 * (alpha + levels);
        const double all = bits + (double)(alpha * DPI_MODULUS_BITS);
        if ((!toy && all > dpi_ckks_most_bits(log_n)) || (least > 0 && cost >= least))
            continue;
        least = cost;
        *spec = s;
        spec->below.alpha = spec->below.special = alpha;
    }
    return least > 0 ? DP_OK
                     : dpi_fail(err, DP_EPRIVACY,
                                "bootstrapping with %zu levels of %d bits to use does not fit "
                                "degree 2^%d at 128 bits of security; take fewer, or degree 2^%d",
                                usable, scale_bits, log_n, (int)DPI_CKKS_MOST_LOG);
}

/* ---- the sine ---- */

/* cos(2 pi range y / 2^doublings) of u = 2 y^2 - 1, by interpolation at Chebyshev's points. */
static void find_cosine(size_t degree, size_t doublings, double range, double height, double *a)
{
    const size_t n = degree + 1;
    for (size_t k = 0; k < n; k++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            const double angle = M_PI * ((double)i + .5) / (double)n;
            const double y = sqrt((cos(angle) + 1) / 2);
            sum += cos(2 * M_PI * range * y / exp2((double)doublings)) * cos((double)k * angle);
        }
        a[k] = height * (k == 0 ? 1 : 2) * sum / (double)n;
    }
}

double dpi_ckks_boot_sine_of(size_t degree, size_t doublings, double range)
{
    double a[DPI_CKKS_DEGREE + 1], most = 0;
    const double wide = range + .25;
    find_cosine(degree, doublings, wide, 1, a);
    for (double whole = -range; whole <= range; whole++)
        for (double part = -0x1p-8; part <= 0x1p-8; part += 0x1p-10) {
            const double x = whole + (fabs(whole + part) <= range ? part : 0);
            const double y = (x - .25) / wide;
            double c = dpi_ckks_polynomial_at(degree, a, 2 * y * y - 1);
            for (size_t k = 0; k < doublings; k++)
                c = 2 * c * c - 1;
            most = fmax(most, fabs(c - sin(2 * M_PI * x)));
        }
    return most;
}

/* sin(t) (1 + t_most^2 / 8) is t within t_most^3 / 24; sin(t) is within t_most^3 / 48 up to half of
 * t_most.  a_3 is for the scale that the last square comes out at. */
static void find_sine(dpi_ckks_boot *b)
{
    const dpi_ckks *c = b->c;
    const size_t bottom = c->spec.depth + 1;
    const double per = 2 * M_PI * c->scale[0] / (double)c->ntt[0]->m.q, t = per * b->most;
    const double nominal = c->scale[bottom] * c->scale[bottom] / (double)c->ntt[bottom]->m.q;
    b->range = DPI_CKKS_BOOT_RANGE + .25;
    b->top = c->scale[c->spec.depth] / nominal / per;
    b->slope = 1 + t * t / 8;
    b->sine =
        dpi_ckks_boot_sine_of(DPI_CKKS_BOOT_DEGREE, DPI_CKKS_BOOT_DOUBLINGS, DPI_CKKS_BOOT_RANGE) /
        per;
    b->bend = t * t / 24 * b->most * (1 + 10 * slack);
}

double dpi_ckks_boot_sine(const dpi_ckks_boot *b)
{
    return b->sine;
}

double dpi_ckks_boot_bend(const dpi_ckks_boot *b)
{
    return b->bend;
}

/* A coefficient is q_0 times a sum of 1 + h uniform numbers of (-1 / 2, 1 / 2), which is beyond
 * (1 + h) / 2 - d, d <= 1, with chance d^(1 + h) / (1 + h)!. */
double dpi_ckks_boot_failure(const dpi_ckks_boot *b)
{
    const double terms = 1 + DPI_CKKS_BOOT_WEIGHT, d = terms / 2 - DPI_CKKS_BOOT_RANGE;
    return log2((double)b->c->n) + terms * log2(d) - lgamma(terms + 1) / M_LN2;
}

/* ---- making it ---- */

dp_status dpi_ckks_boot_new(const dpi_ckks *c, double most, dpi_ckks_room *room, dpi_ckks_boot **to,
                            dp_error *err)
{
    *to = NULL;
    const size_t stages = c->upper.plains;
    if (c->upper.squares != DPI_CKKS_BOOT_SQUARES || stages < 1 || stages > DPI_CKKS_BOOT_STAGES ||
        c->spec.depth < stages || (size_t)c->spec.log_n <= stages)
        dpi_misuse(__func__, "the context is not of dpi_ckks_boot_choose");
    dpi_ckks_must_be_of(c, room->c);
    if (!(most > 0) || most * c->scale[0] * 16 > (double)c->ntt[0]->m.q)
        return dpi_fail(err, DP_EDOMAIN,
                        "places up to %g at scales of 2^%d are not below a sixteenth of q_0; take "
                        "a bound above 0, and smaller scales",
                        most, c->spec.scale_bits);
    dpi_ckks_boot *b = dpi_alloc(1, sizeof *b);
    if (b == NULL)
        return dpi_fail_nomem(err);
    *b = (dpi_ckks_boot){.c = c, .stages = stages, .most = most};
    find_sine(b);
    const double constant = c->scale[c->levels - 1] / (double)c->ntt[0]->m.q / b->range / 2;
    dp_status status = dpi_ckks_boot_transforms(b, constant, room, err);
    if (status == DP_OK)
        *to = b;
    else
        dpi_ckks_boot_free(b);
    return status;
}

void dpi_ckks_boot_free(dpi_ckks_boot *b)
{
    if (b == NULL)
        return;
    for (size_t g = 0; g < b->stages; g++) {
        dpi_ckks_diagonals_free(b->down[g]);
        dpi_ckks_diagonals_free(b->up[g]);
    }
    dpi_free(b);
}

size_t dpi_ckks_boot_turns(const dpi_ckks_boot *b, int *steps)
{
    static const int none = 0;
    enum { MOST = 2048 };
    int all[MOST], mine[MOST];
    size_t n = 0;
    for (size_t g = 0; g < 2 * b->stages; g++) {
        const dpi_ckks_diagonals *d = g < b->stages ? b->down[g] : b->up[g - b->stages];
        const size_t many = dpi_ckks_diagonals_turns(d, NULL);
        if (many > MOST)
            dpi_misuse(__func__, "a transform of so few stages needs more rotations than are kept");
        (void)dpi_ckks_diagonals_turns(d, mine);
        for (size_t k = 0; k < many; k++) {
            size_t at = 0;
            while (at < n && all[at] != mine[k])
                at++;
            if (at == n && n < MOST)
                all[n++] = mine[k];
        }
    }
    if (steps != NULL)
        memcpy(steps, n > 0 ? all : &none, n * sizeof *steps);
    return n;
}

/* ---- to coefficients, and up ---- */

/* x = the maps of x, one after another. */
static dp_status transform(dpi_ckks_diagonals *const *map, size_t stages,
                           const dpi_ckks_turns *turns, dpi_ckks_room *room, dpi_ckks_cipher *x,
                           dp_error *err)
{
    dpi_ckks_cipher y;
    dp_status status = dpi_ckks_take(room, x->level, &y, err);
    for (size_t g = 0; g < stages && status == DP_OK; g++) {
        const double noise = dpi_ckks_diagonals_noise(map[g], x->size, x->noise, true);
        status = dpi_ckks_diagonals_apply(map[g], x, turns, room, &y, err);
        if (status == DP_OK) {
            dpi_ckks_copy(room->c, &y, x);
            x->noise = noise;
        }
    }
    dpi_ckks_give(room, &y);
    return status;
}

/* Of level 0 rows at all levels: coefficients between -q_0 / 2 and q_0 / 2. */
static void raise_modulus(const dpi_ckks *c, dpi_ckks_room *room, dpi_ckks_cipher *x)
{
    const uint64_t q = c->ntt[0]->m.q;
    for (int part = 0; part < 2; part++) {
        uint64_t *row = x->part[part];
        memcpy(room->spare, row, c->n * sizeof *row);
        dpi_ntt_inverse(c->ntt[0], room->spare);
        for (size_t t = 1; t < c->levels; t++) {
            uint64_t *to = row + t * c->n;
            for (size_t i = 0; i < c->n; i++) {
                const uint64_t v = room->spare[i], above = 0 - (uint64_t)(v > q / 2);
                to[i] = dpi_ckks_residue(c, t, (int64_t)(v - (q & above)));
            }
            dpi_ntt_forward(c->ntt[t], to);
        }
    }
    x->level = c->levels - 1;
    x->scale = c->scale[x->level];
}

/* From the sparse secret to the dense one. */
static void make_dense(const dpi_ckks_boot_keys *k, dpi_ckks_room *room, dpi_ckks_cipher *x)
{
    const size_t all = (x->level + 1) * k->c->n * sizeof(uint64_t);
    memcpy(x->part[2], x->part[1], all);
    memset(x->part[1], 0, all);
    dpi_ckks_switch_once(k->c, x->level, x->part[2], k->up, room, x->part);
}

/* `noise` is then that of a coefficient, S_0 of which are 1: of x as it comes, and what the way
 * down has added, a coefficient of which is n^(-1/2) of a place. */
dp_status dpi_ckks_boot_raise(const dpi_ckks_boot *b, const dpi_ckks_boot_keys *k,
                              const dpi_ckks_cipher *x, dpi_ckks_room *room, dpi_ckks_cipher *to,
                              dp_error *err)
{
    const dpi_ckks *c = b->c;
    dpi_ckks_must_be_of(c, room->c);
    dpi_ckks_must_be_of(c, k->c);
    dpi_ckks_must_hold(c, to->room, c->levels - 1);
    if (x->level < b->stages || x->scale != c->scale[x->level] ||
        !(x->size <= b->most * (1 + slack)))
        dpi_misuse(__func__, "what is bootstrapped has levels for the transform, the scale of its "
                             "level, and places within the bound");
    dpi_ckks_copy(c, x, to);
    dpi_ckks_lower(c, b->stages, room, to);
    const double came = to->noise;
    to->noise = 0;
    dp_status status = transform(b->down, b->stages, &k->turns, room, to, err);
    if (status != DP_OK)
        return status;
    dpi_ckks_boot_make_sparse(k, room, to);
    to->noise =
        came + to->noise / sqrt((double)c->n) + sqrt(dpi_ckks_boot_sparsing(c)) / c->scale[0];
    raise_modulus(c, room, to);
    make_dense(k, room, to);
    return DP_OK;
}

/* ---- the sine of it ---- */

/* x = 2 x^2 - less, a level below, of the scale that it comes to. */
static void double_it(const dpi_ckks *c, double less, const dpi_ckks_switch *square,
                      dpi_ckks_room *room, dpi_ckks_cipher *x)
{
    dpi_ckks_multiply(c, x, x, square, room, x);
    dpi_ckks_add(c, x, x, x);
    dpi_ckks_divide(c, room, x);
    dpi_ckks_add_number(c, -less, x);
    if (x->level > c->spec.depth)
        x->scale = c->scale[x->level];
    x->size = less;
}

/* x, coefficients over q_0 and the range at its places, without multiples of q_0; times `slope`. */
static dp_status take_sine(const dpi_ckks_boot *b, double slope, const dpi_ckks_switch *square,
                           dpi_ckks_room *room, dpi_ckks_cipher *x, dp_error *err)
{
    const dpi_ckks *c = b->c;
    const double low = pow(b->top * slope, exp2(-DPI_CKKS_BOOT_DOUBLINGS));
    double a[DPI_CKKS_BOOT_DEGREE + 1];
    dpi_ckks_cipher u;
    find_cosine(DPI_CKKS_BOOT_DEGREE, DPI_CKKS_BOOT_DOUBLINGS, b->range, low, a);
    x->size = 1;
    x->noise = 0; /* of what comes in, that the slope multiplies */
    dpi_ckks_add_number(c, -.25 / b->range, x);
    double_it(c, 1, square, room, x);
    dp_status status = dpi_ckks_take(room, x->level, &u, err);
    if (status == DP_OK)
        status = dpi_ckks_polynomial(c, DPI_CKKS_BOOT_DEGREE, a, x, square, room, &u, err);
    if (status == DP_OK) {
        u.size = low;
        for (size_t k = 0; k < DPI_CKKS_BOOT_DOUBLINGS; k++)
            double_it(c, u.size * u.size, square, room, &u);
        dpi_ckks_copy(c, &u, x);
    }
    dpi_ckks_give(room, &u);
    return status;
}

/* x plus its conjugate, which was halved. */
static dp_status take_real(const dpi_ckks *c, const dpi_ckks_switch *conjugate, dpi_ckks_room *room,
                           dpi_ckks_cipher *x, dp_error *err)
{
    dpi_ckks_cipher y;
    dp_status status = dpi_ckks_take(room, x->level, &y, err);
    if (status != DP_OK)
        return status;
    dpi_ckks_rotate(c, x, conjugate, room, &y);
    dpi_ckks_add(c, x, &y, x);
    dpi_ckks_give(room, &y);
    return DP_OK;
}

/* to = x, times `slope` where x is small. */
static dp_status apply(const dpi_ckks_boot *b, const dpi_ckks_boot_keys *k, double slope,
                       const dpi_ckks_cipher *x, const dpi_ckks_switch *square, dpi_ckks_room *room,
                       dpi_ckks_cipher *to, dp_error *err)
{
    const dpi_ckks *c = b->c;
    const double ratio = (double)c->ntt[0]->m.q / c->scale[0];
    dp_status status = dpi_ckks_boot_raise(b, k, x, room, to, err);
    if (status != DP_OK)
        return status;
    const double came = to->noise;
    /* Places of what is raised are sums of n coefficients up to the range. */
    to->size = sqrt((double)c->n) * 8 * (double)c->ntt[0]->m.q / to->scale;
    to->noise = dpi_ckks_spread(c, dpi_ckks_switching(c, to->level), to->scale);
    status = transform(b->up, b->stages, &k->turns, room, to, err);
    if (status == DP_OK)
        status = take_real(c, k->conjugate, room, to, err);
    const double before = came + to->noise * b->range * ratio;
    if (status == DP_OK)
        status = take_sine(b, slope, square, room, to, err);
    if (status != DP_OK)
        return status;
    const double per = to->scale / c->scale[to->level];
    to->scale = c->scale[to->level];
    to->size = slope * (b->most + b->bend);
    to->noise = slope * (before + b->sine + b->bend) + to->noise * per;
    return DP_OK;
}

dp_status dpi_ckks_boot_apply(const dpi_ckks_boot *b, const dpi_ckks_boot_keys *k,
                              const dpi_ckks_cipher *x, const dpi_ckks_switch *square,
                              dpi_ckks_room *room, dpi_ckks_cipher *to, dp_error *err)
{
    return apply(b, k, b->slope, x, square, room, to, err);
}

/* ---- twice ---- */

/* x = the whole number `times` x. */
static void enlarge(const dpi_ckks *c, double times, dpi_ckks_cipher *x)
{
    for (size_t t = 0; t <= x->level; t++) {
        const uint64_t w = dpi_ckks_reduce(c, t, (uint64_t)times);
        const dpi_ckks_factor f = {w, dpi_ntt_beside(c->ntt[t], w)};
        for (size_t part = 0; part < 2; part++)
            dpi_ckks_scale_row(c, t, f, x->part[part] + t * c->n);
    }
}

/* x - to at the level of x, enlarged by `times` to be at most half of what places may be.  `to`'s noise
 * becomes what is left when it is taken back: that of x, and of lowering. */
static double find_rest(const dpi_ckks_boot *b, const dpi_ckks_cipher *x, dpi_ckks_room *room,
                        dpi_ckks_cipher *to, dpi_ckks_cipher *rest)
{
    const dpi_ckks *c = b->c;
    dpi_ckks_copy(c, to, rest);
    dpi_ckks_lower(c, x->level, room, rest);
    const double lowering = rest->noise - to->noise;
    dpi_ckks_subtract(c, x, rest, rest);
    const double times = exp2(floor(log2(b->most / 2 / dpi_ckks_error(rest))));
    if (times <= 1)
        return 1;
    enlarge(c, times, rest);
    rest->size = b->most;
    rest->noise = 0; /* whatever it holds is what is to come back */
    to->noise = x->noise + lowering;
    return times;
}

/* Imaginary parts, which are noise, are not seen by the second round: they are taken away before. */
dp_status dpi_ckks_boot_apply_twice(const dpi_ckks_boot *b, const dpi_ckks_boot_keys *k,
                                    const dpi_ckks_cipher *x, const dpi_ckks_switch *square,
                                    dpi_ckks_room *room, dpi_ckks_cipher *to, dp_error *err)
{
    const dpi_ckks *c = b->c;
    dpi_ckks_cipher low, rest = {0};
    double times = 1;
    dp_status status = dpi_ckks_take(room, x->level, &low, err);
    if (status == DP_OK)
        status = dpi_ckks_take(room, c->levels - 1, &rest, err);
    if (status == DP_OK) {
        dpi_ckks_copy(c, x, &low);
        dpi_ckks_lower(c, b->stages, room, &low);
        status = apply(b, k, b->slope / 2, &low, square, room, to, err);
    }
    if (status == DP_OK)
        status = take_real(c, k->conjugate, room, to, err);
    if (status == DP_OK)
        times = find_rest(b, &low, room, to, &rest);
    if (status == DP_OK && times > 1)
        status = apply(b, k, 1 / times, &rest, square, room, &rest, err);
    if (status == DP_OK && times > 1) {
        dpi_ckks_add(c, to, &rest, to);
        to->size = b->most;
    }
    dpi_ckks_give(room, &low);
    dpi_ckks_give(room, &rest);
    return status;
}
