/* Layouts, maps, levels and parameters. */
#include "serve/circuit.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/error.h"

enum {
    FEW_PLACES = 1 << 12,  /* that images are packed into where they can be */
    MOST_PLACES = 1 << 15, /* of any vector */
    MOST_TERMS = 1 << 24,  /* of all stages: the sheet may be anybody's */
    HIDING = 128,          /* coefficients of the ring a number of an answer: serve-ckks.md */
    LEAST_SCALE = 33,
    MOST_SCALE = 40,
    ANSWER_BITS = 8,              /* of an answer that the first prime holds beyond the scale */
    MIDDLE_BITS = 40,             /* of any other number */
    INPUT_BITS = 61 - MOST_SCALE, /* of an input: what is encoded is below 2^62 */
    STAGE_TEXT = 160
};

static const double off = 0x1p-12;         /* of a polynomial, and of an answer by its flood */
static const double flood_deviations = 19; /* dpi_ckks_error's */

static dp_status refuse(const dpi_circuit *c, size_t k, const char *why, dp_error *err)
{
    return dpi_fail(err, DP_EUNSUPPORTED, "stage %zu (%s) cannot be computed under CKKS: %s", k,
                    dp_stage_name(dp_program_stage(c->p, k)->kind), why);
}

/* log2 of what a stage's numbers are below. */
static int reach_bits(const dp_stage *s)
{
    return s->bits - s->fraction;
}

/* ---- layouts ---- */

static dp_status new_layout(size_t n, dpi_placement *l, dp_error *err)
{
    *l = (dpi_placement){.n = n, .place = dpi_alloc(n, sizeof *l->place)};
    return l->place != NULL ? DP_OK : dpi_fail_nomem(err);
}

/* One number behind the other. */
static void lay_in_row(dpi_placement *l)
{
    for (size_t i = 0; i < l->n; i++)
        l->place[i] = (uint32_t)i;
    l->period = dpi_power_of_two(l->n);
    l->grid = false;
}

/* Pixels where those are that a window of the stage begins at; channels in planes or, where those are
 * many, also in the gaps that strides leave.  False: it does not fit. */
static bool lay_on_grid(const dp_stage *s, const dpi_placement *like, dpi_placement *l)
{
    if (like->gap[0] > MOST_PLACES || like->gap[1] > MOST_PLACES)
        return false; /* and so products of strides do not wrap */
    const size_t channels = s->shape[2], within = like->gap[0] * like->gap[1];
    const bool packed = channels * like->plane > FEW_PLACES;
    l->grid = true;
    l->pitch = like->pitch;
    l->plane = like->plane;
    memcpy(l->gap, like->gap, sizeof l->gap);
    for (size_t i = 0; i < l->n; i++) {
        const size_t o = i % channels, column = i / channels % s->shape[1];
        const size_t row = i / channels / s->shape[1], sub = packed ? o % within : 0;
        const size_t y = row * l->gap[0] + sub / l->gap[1],
                     x = column * l->gap[1] + sub % l->gap[1];
        const size_t block = packed ? o / within : o, at = y * l->pitch + x;
        if (x >= l->pitch || at >= l->plane || (block + 1) * l->plane > MOST_PLACES)
            return false;
        l->place[i] = (uint32_t)(block * l->plane + at);
        l->period = dpi_power_of_two((block + 1) * l->plane) > l->period
                        ? dpi_power_of_two((block + 1) * l->plane)
                        : l->period;
    }
    return true;
}

static dp_status lay_input(dpi_circuit *c, dp_error *err)
{
    const dp_stage *s = dp_program_stage(c->p, 0);
    if (s->size > MOST_PLACES)
        return refuse(c, 0, "it has too many numbers for a ciphertext", err);
    if (reach_bits(s) > INPUT_BITS)
        return refuse(c, 0, "its numbers can be 2^21 and more; bring them nearer to 1", err);
    const size_t plane = dpi_power_of_two(s->shape[0] * s->shape[1]);
    const dpi_placement image = {.pitch = s->shape[1], .plane = plane, .gap = {1, 1}};
    dp_status status = new_layout(s->size, &c->in, err);
    if (status == DP_OK && !(s->shape[1] > 1 && lay_on_grid(s, &image, &c->in)))
        lay_in_row(&c->in);
    return status;
}

/* ---- linear stages ---- */

/* Term (o, i, weight) for a map that is folded, or of places that are given. */
static dpi_ckks_term term_of(const dpi_ckks_map *map, const dpi_placement *in,
                             const dpi_placement *out, size_t o, size_t i, double w)
{
    const size_t at = in->place[i], d = map->places;
    if (map->made < d || !out->grid) {
        const size_t k = (at + d - o) % map->made;
        return (dpi_ckks_term){(uint32_t)((at + d - k) % d), (uint32_t)at, w};
    }
    const size_t to = out->place[o], k = (at + d - to) % in->period;
    return (dpi_ckks_term){(uint32_t)to, (uint32_t)((to + k) % d), w};
}

static double weight_of(const dpi_serve_map *m, size_t at, double times)
{
    return m->weights != NULL ? m->weights[at] * times : 1;
}

static dp_status fill_map(const dpi_serve_map *m, double times, const dpi_placement *in,
                          const dpi_placement *out, dpi_ckks_map *map, dp_error *err)
{
    const size_t made = dpi_power_of_two(m->outputs);
    const size_t terms = m->begin != NULL ? m->begin[m->outputs] : m->outputs * m->inputs;
    *map = (dpi_ckks_map){.places = in->period > out->period ? in->period : out->period,
                          .term = dpi_alloc(terms + 1, sizeof *map->term)};
    map->made = out->grid ? map->places : made;
    if (map->term == NULL)
        return dpi_fail_nomem(err);
    for (size_t o = 0; o < m->outputs; o++) {
        const size_t first = m->begin != NULL ? m->begin[o] : o * m->inputs;
        const size_t last = m->begin != NULL ? m->begin[o + 1] : (o + 1) * m->inputs;
        for (size_t t = first; t < last; t++)
            map->term[map->n++] =
                term_of(map, in, out, o, m->begin != NULL ? m->input[t] : t - first,
                        weight_of(m, m->begin != NULL ? m->weight[t] : t, times));
    }
    return DP_OK;
}

/* Of a grid and a row the one by which there are fewer rotations. */
static dp_status map_windows(const dpi_serve_map *m, double times, const dpi_placement *in,
                             dpi_circuit_step *step, dp_error *err)
{
    dpi_placement row;
    dpi_ckks_map other = {0};
    size_t many = 0, others = 0;
    dp_status status = new_layout(m->outputs, &row, err);
    if (status == DP_OK) {
        lay_in_row(&row);
        status = fill_map(m, times, in, &row, &other, err);
    }
    if (status == DP_OK)
        status = dpi_ckks_map_turns(&other, &others, NULL, err);
    if (status == DP_OK)
        status = fill_map(m, times, in, &step->out, &step->map, err);
    if (status == DP_OK)
        status = dpi_ckks_map_turns(&step->map, &many, NULL, err);
    if (status == DP_OK && others < many) {
        const dpi_ckks_map map = step->map;
        const dpi_placement out = step->out;
        step->map = other;
        step->out = row;
        other = map;
        row = out;
    }
    dpi_ckks_map_free(&other);
    dpi_free(row.place);
    return status;
}

static bool is_last_linear(const dpi_circuit *c, const dpi_circuit_step *step)
{
    while (++step < c->step + c->n_steps)
        if (step->kind == DPI_CIRCUIT_LINEAR)
            return false;
    return true;
}

/* Weights are integers of 2^-fraction.  The last is in a row, as an answer's period counts. */
static dp_status make_linear(dpi_circuit *c, const dpi_placement *in, double in_times,
                             dpi_circuit_step *step, dp_error *err)
{
    const dp_stage *s = dp_program_stage(c->p, step->stage);
    const dp_stage *a = dp_program_stage(c->p, (size_t)s->in[0]);
    const double times = ldexp(step->times / in_times, a->fraction - s->fraction);
    dpi_placement like = *in;
    dpi_serve_map m;
    dp_status status = dpi_serve_map_make(c->p, step->stage, &m, err);
    if (status == DP_OK)
        status = new_layout(s->size, &step->out, err);
    for (int axis = 0; axis < 2; axis++)
        like.gap[axis] *= s->window.stride[axis] > 0 ? s->window.stride[axis] : 1;
    const bool grid = status == DP_OK && s->kind != DP_STAGE_DENSE && in->grid &&
                      !is_last_linear(c, step) && lay_on_grid(s, &like, &step->out);
    if (status == DP_OK && !grid)
        lay_in_row(&step->out);
    if (status == DP_OK)
        status = grid ? map_windows(&m, times, in, step, err)
                      : fill_map(&m, times, in, &step->out, &step->map, err);
    step->out.period = status == DP_OK ? step->map.made : step->out.period;
    dpi_serve_map_free(&m);
    return status;
}

/* ---- polynomials ---- */

static double logistic(double t)
{
    return 1 / (1 + exp(-t));
}

static double worst(double (*f)(double), double reach, size_t degree, const double *a)
{
    double most = 0;
    for (size_t k = 0; k <= 8 * degree; k++) {
        const double x = 2.0 * (double)k / (8.0 * (double)degree) - 1;
        most = fmax(most, fabs(dpi_ckks_polynomial_at(degree, a, x) - f(reach * x)));
    }
    return most;
}

/* Degrees that take as many levels are taken to the full. */
static dp_status make_polynomial(const dpi_circuit *c, dpi_circuit_step *step, dp_error *err)
{
    const dp_stage *s = dp_program_stage(c->p, step->stage);
    double (*f)(double) = s->kind == DP_STAGE_TANH ? tanh : logistic;
    const double reach = ldexp(1, reach_bits(dp_program_stage(c->p, (size_t)s->in[0])));
    char text[STAGE_TEXT];
    for (step->degree = 3; step->degree <= DPI_CKKS_DEGREE; step->degree = 2 * step->degree + 1) {
        dpi_ckks_chebyshev(f, -reach, reach, step->degree, step->a);
        if (worst(f, reach, step->degree, step->a) <= off)
            return DP_OK;
    }
    (void)snprintf(text, sizeof text,
                   "its argument can reach %g, where degree %d is off by more than 2^-12; take "
                   "squares, or smaller weights or bounds",
                   reach, (int)DPI_CKKS_DEGREE);
    return refuse(c, step->stage, text, err);
}

/* ---- steps ---- */

static dp_status kind_of(const dpi_circuit *c, size_t k, dpi_circuit_kind *kind, dp_error *err)
{
    const dp_stage *s = dp_program_stage(c->p, k);
    switch (s->kind) {
    case DP_STAGE_DENSE:
    case DP_STAGE_CONVOLUTION:
    case DP_STAGE_AVERAGE_POOL:
        *kind = DPI_CIRCUIT_LINEAR;
        return DP_OK;
    case DP_STAGE_SQUARE:
        *kind = DPI_CIRCUIT_SQUARE;
        return DP_OK;
    case DP_STAGE_SIGMOID:
    case DP_STAGE_TANH:
        *kind = DPI_CIRCUIT_POLYNOMIAL;
        return DP_OK;
    default:
        return refuse(c, k,
                      "there are dense, convolution and average pool, square, sigmoid and tanh; "
                      "train the network with squares, or take another protocol",
                      err);
    }
}

/* By what numbers of the step before are divided, so that a polynomial's are between -1 and 1 and
 * answers fit the first prime: only linear steps can. */
static int excess(const dpi_circuit *c, size_t i)
{
    const dp_stage *s = dp_program_stage(c->p, c->step[i].stage);
    if (i + 1 < c->n_steps && c->step[i + 1].kind == DPI_CIRCUIT_POLYNOMIAL)
        return reach_bits(s);
    if (i + 1 < c->n_steps && !(i + 2 == c->n_steps && c->step[i + 1].kind == DPI_CIRCUIT_SQUARE))
        return 0;
    const int more =
        reach_bits(dp_program_stage(c->p, dpi_circuit_last(c)->stage)) - ANSWER_BITS + 1;
    return more <= 0 ? 0 : i + 1 == c->n_steps ? more : (more + 1) / 2;
}

static dp_status check_step(const dpi_circuit *c, size_t i, dp_error *err)
{
    const dpi_circuit_step *step = &c->step[i];
    const dp_stage *s = dp_program_stage(c->p, step->stage);
    if (step->kind == DPI_CIRCUIT_POLYNOMIAL &&
        (i == 0 || c->step[i - 1].kind != DPI_CIRCUIT_LINEAR))
        return refuse(c, step->stage, "a linear stage stands before it", err);
    const double most = reach_bits(s) + log2(step->times);
    if (most > (i + 1 == c->n_steps ? ANSWER_BITS - 1 : MIDDLE_BITS))
        return refuse(c, step->stage,
                      "its numbers can be too large; take smaller weights or bounds", err);
    return DP_OK;
}

static dp_status copy_layout(const dpi_placement *from, dpi_placement *to, dp_error *err)
{
    dp_status status = new_layout(from->n, to, err);
    if (status != DP_OK)
        return status;
    uint32_t *place = to->place;
    memcpy(place, from->place, from->n * sizeof *place);
    *to = *from;
    to->place = place;
    return DP_OK;
}

static dp_status make_step(dpi_circuit *c, size_t i, dp_error *err)
{
    dpi_circuit_step *step = &c->step[i];
    const dpi_placement *in = i > 0 ? &c->step[i - 1].out : &c->in;
    const double before = i > 0 ? c->step[i - 1].times : 1;
    step->times = step->kind == DPI_CIRCUIT_LINEAR   ? ldexp(1, -excess(c, i))
                  : step->kind == DPI_CIRCUIT_SQUARE ? before * before
                                                     : 1;
    dp_status status = check_step(c, i, err);
    if (status != DP_OK)
        return status;
    if (step->kind == DPI_CIRCUIT_LINEAR)
        return make_linear(c, in, before, step, err);
    c->squares = true;
    status = copy_layout(in, &step->out, err);
    return status == DP_OK && step->kind == DPI_CIRCUIT_POLYNOMIAL ? make_polynomial(c, step, err)
                                                                   : status;
}

/* At the most, of padding too. */
static size_t terms_of(const dp_stage *a, const dp_stage *s)
{
    return s->size * (s->kind == DP_STAGE_DENSE
                          ? a->size
                          : s->window.size[0] * s->window.size[1] *
                                (s->kind == DP_STAGE_CONVOLUTION ? a->shape[2] : 1));
}

/* Before room is taken for any. */
static dp_status check_terms(const dpi_circuit *c, dp_error *err)
{
    size_t terms = 0;
    for (size_t i = 0; i < c->n_steps; i++) {
        const size_t k = c->step[i].stage;
        const dp_stage *s = dp_program_stage(c->p, k);
        if (s->size > MOST_PLACES)
            return refuse(c, k, "it has too many numbers for a ciphertext", err);
        if (c->step[i].kind == DPI_CIRCUIT_LINEAR)
            terms += terms_of(dp_program_stage(c->p, (size_t)s->in[0]), s);
        if (terms > MOST_TERMS)
            return refuse(c, k,
                          "it has too many products, with the stages before it more than 2^24; "
                          "take narrower layers, or smaller windows",
                          err);
    }
    return DP_OK;
}

static dp_status make_steps(dpi_circuit *c, size_t last, dp_error *err)
{
    if (last - 1 >= DPI_CKKS_PRIMES)
        return dpi_fail(err, DP_EPRIVACY,
                        "the program has %zu stages, a level each, and there are no parameters of "
                        "%d levels; take fewer stages, or another protocol",
                        last - 1, (int)DPI_CKKS_PRIMES);
    c->step = dpi_alloc(last, sizeof *c->step);
    if (c->step == NULL)
        return dpi_fail_nomem(err);
    memset(c->step, 0, last * sizeof *c->step);
    dp_status status = lay_input(c, err);
    for (size_t k = 1; k < last && status == DP_OK; k++) {
        c->step[c->n_steps].stage = k;
        status = kind_of(c, k, &c->step[c->n_steps++].kind, err);
    }
    if (status == DP_OK)
        status = check_terms(c, err);
    for (size_t i = 0; i < c->n_steps && status == DP_OK; i++)
        status = make_step(c, i, err);
    return status;
}

/* ---- rotations ---- */

static dp_status add_turns(dpi_circuit *c, const dpi_ckks_map *map, dp_error *err)
{
    size_t n = 0;
    bool *is = dpi_alloc(map->places, sizeof *is);
    int *steps = dpi_alloc(2 * map->places, sizeof *steps);
    dp_status status = is != NULL && steps != NULL ? DP_OK : dpi_fail_nomem(err);
    if (status == DP_OK)
        status = dpi_ckks_map_turns(map, &n, steps, err);
    if (status == DP_OK) {
        memset(is, 0, map->places * sizeof *is);
        for (size_t t = 0; t < map->n; t++)
            is[(map->term[t].from + map->places - map->term[t].to) % map->places] = true;
        for (size_t k = 0; k < map->places; k++)
            c->diagonals += is[k];
    }
    for (size_t k = 0; k < n; k++) {
        size_t at = 0;
        while (at < c->n_turns && c->turns[at] != steps[k])
            at++;
        c->turns[at] = steps[k];
        c->n_turns += at == c->n_turns;
    }
    dpi_free(is);
    dpi_free(steps);
    return status;
}

static dp_status find_turns(dpi_circuit *c, dp_error *err)
{
    dp_status status = DP_OK;
    c->turns = dpi_alloc(MOST_PLACES, sizeof *c->turns);
    if (c->turns == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < c->n_steps && status == DP_OK; i++)
        if (c->step[i].kind == DPI_CIRCUIT_LINEAR)
            status = add_turns(c, &c->step[i].map, err);
    return status;
}

/* ---- levels and parameters ---- */

static size_t set_levels(dpi_circuit *c)
{
    size_t level = 0;
    for (size_t i = c->n_steps; i-- > 0;) {
        dpi_circuit_step *step = &c->step[i];
        level +=
            step->kind == DPI_CIRCUIT_POLYNOMIAL ? dpi_ckks_polynomial_levels(step->degree) : 1;
        step->level = level;
    }
    return level;
}

/* The largest scale at the least degree, and that so large beside an answer that whoever makes up a
 * key reads no c1. */
static dp_status choose(const dpi_circuit *c, size_t depth, dpi_ckks_spec *spec, dp_error *err)
{
    enum { MOST_ANSWER = (1 << DPI_CKKS_MOST_LOG) / HIDING };
    dpi_ckks_spec s;
    const size_t answer = dpi_circuit_last(c)->out.period;
    if (answer > MOST_ANSWER)
        return dpi_fail(
            err, DP_EPRIVACY,
            "an answer of more than %d numbers (here %zu) under CKKS would show weights "
            "to clients who make up a key; take fewer outputs or draws, or another "
            "protocol",
            (int)MOST_ANSWER, dpi_circuit_last(c)->out.n);
    size_t places = c->in.period > HIDING / 2 * answer ? c->in.period : HIDING / 2 * answer;
    for (size_t i = 0; i < c->n_steps; i++)
        places = c->step[i].map.places > places ? c->step[i].map.places : places;
    dp_status status = dpi_ckks_choose(depth, LEAST_SCALE, places, spec, err);
    for (int bits = LEAST_SCALE + 1; bits <= MOST_SCALE && status == DP_OK; bits++)
        if (dpi_ckks_choose(depth, bits, places, &s, NULL) == DP_OK && s.log_n <= spec->log_n)
            *spec = s;
    return status;
}

dp_status dpi_circuit_make(const dpi_serve_plan *plan, dpi_circuit *c, dp_error *err)
{
    dpi_ckks_spec spec;
    *c = (dpi_circuit){.p = plan->p};
    dp_status status = make_steps(c, plan->layer[0].first, err);
    if (status == DP_OK)
        status = find_turns(c, err);
    if (status == DP_OK)
        status = choose(c, set_levels(c), &spec, err);
    if (status == DP_OK)
        status = dpi_ckks_new(&spec, &c->c, err);
    if (status == DP_OK)
        c->flood = dpi_ckks_flood_bits(c->c, 0, off / flood_deviations);
    return status;
}

void dpi_circuit_free(dpi_circuit *c)
{
    for (size_t i = 0; i < c->n_steps; i++) {
        dpi_free(c->step[i].out.place);
        dpi_ckks_map_free(&c->step[i].map);
    }
    dpi_free(c->in.place);
    dpi_free(c->step);
    dpi_free(c->turns);
    dpi_ckks_free(c->c);
    *c = (dpi_circuit){0};
}

const dpi_circuit_step *dpi_circuit_last(const dpi_circuit *c)
{
    return &c->step[c->n_steps - 1];
}
