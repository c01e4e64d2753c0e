/* The sheet: what whoever asks must know of a program, as bytes; and its hash.
 *
 *   "tacit program 1"; link, draws; stages, each kind, in[0] + 1, in[1] + 1, outputs, window,
 *   shift, lift, weight_bits, fraction, bits; the input's shape, whether its numbers are declared,
 *   and these.
 *
 * Whoever reads one takes nothing of it on trust: the stages are built by the same checks as any
 * program's, and what is left, shifts and fractions, is held within its bounds. */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/bytes.h"
#include "program/program.h"

static const char magic[] = "tacit program 1";

/* ---- writing ---- */

static void put_signed(dpi_bytes *b, int64_t v)
{
    dpi_bytes_number(b, (uint64_t)v);
}

static void put_stage(dpi_bytes *b, const dp_stage *s)
{
    dpi_bytes_text(b, dp_stage_name(s->kind));
    put_signed(b, s->in[0] + 1);
    put_signed(b, s->in[1] + 1);
    dpi_bytes_number(b, s->n_bias);
    for (int axis = 0; axis < 2; axis++) {
        dpi_bytes_number(b, s->window.size[axis]);
        dpi_bytes_number(b, s->window.stride[axis]);
        dpi_bytes_number(b, s->window.padding[axis]);
    }
    put_signed(b, s->shift);
    put_signed(b, s->lift[0]);
    put_signed(b, s->lift[1]);
    put_signed(b, s->weight_bits);
    put_signed(b, s->fraction);
    put_signed(b, s->bits);
}

static void put_number(dpi_bytes *b, const dp_program_number *number)
{
    dpi_bytes_real(b, number->low);
    dpi_bytes_real(b, number->high);
    dpi_bytes_number(b, number->n_factors);
    for (size_t i = 0; i < number->n_factors; i++) {
        dpi_bytes_text(b, number->factor[i].column);
        dpi_bytes_number(b, number->factor[i].element);
        put_signed(b, (int64_t)number->factor[i].level + 1);
    }
}

static void put_program(dpi_bytes *b, const dp_program *p)
{
    dpi_bytes_text(b, magic);
    dpi_bytes_number(b, p->link);
    dpi_bytes_number(b, p->draws);
    for (int i = 0; i < 3; i++)
        dpi_bytes_number(b, p->stages[0].shape[i]);
    dpi_bytes_number(b, p->n_stages);
    for (size_t k = 0; k < p->n_stages; k++)
        put_stage(b, &p->stages[k]);
    dpi_bytes_number(b, p->numbers != NULL);
    put_number(b, &p->common);
    for (size_t i = 0; p->numbers != NULL && i < dp_program_inputs(p); i++)
        put_number(b, &p->numbers[i]);
}

dp_status dp_program_sheet(const dp_program *p, size_t *n, unsigned char **bytes, dp_error *err)
{
    dpi_bytes b = {0};
    *n = 0;
    *bytes = NULL;
    if (!p->fixed)
        return dpi_fail(err, DP_ESTATE, "fix the program first, by dp_program_fix");
    put_program(&b, p);
    if (b.failed) {
        dpi_bytes_free(&b);
        return dpi_fail_nomem(err);
    }
    *n = b.n;
    *bytes = b.at;
    return DP_OK;
}

void dp_program_sheet_free(unsigned char *bytes)
{
    dpi_bytes b = {.at = bytes};
    dpi_bytes_free(&b);
}

dp_status dp_program_hash(const dp_program *p, unsigned char hash[DP_PROGRAM_HASH], dp_error *err)
{
    size_t n;
    unsigned char *bytes;
    memset(hash, 0, DP_PROGRAM_HASH);
    dp_status status = dp_program_sheet(p, &n, &bytes, err);
    if (status == DP_OK)
        (void)crypto_generichash(hash, DP_PROGRAM_HASH, bytes, n, NULL, 0);
    dp_program_sheet_free(bytes);
    return status;
}

/* ---- reading ---- */

/* A number within least ... most; else bad, and `least`. */
static int64_t get_signed(dpi_reader *r, int64_t least, int64_t most)
{
    int64_t v = (int64_t)dpi_read_number(r);
    if (v >= least && v <= most)
        return v;
    r->bad = true;
    return least;
}

static dp_stage_kind get_kind(dpi_reader *r, dpi_arena *arena)
{
    const char *name = NULL;
    if (!dpi_read_text(r, arena, false, &name) || name == NULL)
        return DP_N_STAGE_KINDS;
    int kind = 0;
    while (kind < DP_N_STAGE_KINDS && strcmp(dp_stage_name(kind), name) != 0)
        kind++;
    return kind;
}

/* Whether the window of a stage is as dp_program_sheet writes it: without a stride of 0. */
static bool written_so(const dp_window *of_stage, const dp_window *read)
{
    return of_stage->stride[0] == read->stride[0] && of_stage->stride[1] == read->stride[1];
}

static void get_stage(dpi_reader *r, dp_program *p, const size_t shape[3])
{
    const int64_t most = DPI_PROGRAM_MOST_BITS;
    dp_stage s = {.kind = get_kind(r, &p->arena)};
    s.in[0] = (int)get_signed(r, 0, DPI_PROGRAM_STAGES) - 1;
    s.in[1] = (int)get_signed(r, 0, DPI_PROGRAM_STAGES) - 1;
    s.n_bias = dpi_read_count(r, DPI_PROGRAM_SIZE);
    for (int axis = 0; axis < 2; axis++) {
        s.window.size[axis] = dpi_read_count(r, DPI_PROGRAM_SIZE);
        s.window.stride[axis] = dpi_read_count(r, DPI_PROGRAM_SIZE);
        s.window.padding[axis] = dpi_read_count(r, DPI_PROGRAM_SIZE);
    }
    s.shift = (int)get_signed(r, -DPI_PROGRAM_WEIGHT_BITS, most);
    s.lift[0] = (int)get_signed(r, 0, most);
    s.lift[1] = (int)get_signed(r, 0, most);
    s.weight_bits = (int)get_signed(r, 0, DPI_PROGRAM_WEIGHT_BITS);
    s.fraction = (int)get_signed(r, -100, 100);
    s.bits = (int)get_signed(r, 0, most);
    bool weighted = s.kind == DP_STAGE_DENSE || s.kind == DP_STAGE_CONVOLUTION;
    bool rescales = s.kind == DP_STAGE_SIGMOID || s.kind == DP_STAGE_TANH;
    r->bad |=
        s.kind == DP_N_STAGE_KINDS || weighted != (s.n_bias > 0) || (s.shift < 0 && !rescales);
    if (s.kind == DP_STAGE_INPUT)
        memcpy(s.shape, shape, sizeof s.shape);
    int k = r->bad ? -1 : dpi_program_add(p, &s, NULL, NULL);
    r->bad = k < 0 || !written_so(&p->stages[k].window, &s.window);
}

static void get_number(dpi_reader *r, dp_program *p, dp_program_number *to)
{
    dp_program_number number = {.low = dpi_read_real(r), .high = dpi_read_real(r)};
    number.n_factors = dpi_read_count(r, DP_PROGRAM_FACTORS);
    for (size_t i = 0; !r->bad && i < number.n_factors; i++) {
        dp_program_factor *f = &number.factor[i];
        if (!dpi_read_text(r, &p->arena, false, &f->column))
            (void)dpi_fail_nomem(&p->err);
        f->element = dpi_read_count(r, DPI_PROGRAM_SIZE);
        f->level = (int32_t)get_signed(r, 0, INT32_MAX) - 1;
    }
    r->bad = r->bad || !dpi_number_good(p, &number);
    *to = number;
}

static void get_numbers(dpi_reader *r, dp_program *p)
{
    bool declared = dpi_read_count(r, 1) != 0;
    size_t n = dp_program_inputs(p);
    get_number(r, p, &p->common);
    if (r->bad || !declared)
        return;
    r->bad = n > r->left / 8; /* each takes more bytes than that */
    p->numbers = r->bad ? NULL : dpi_arena_alloc(&p->arena, n, sizeof *p->numbers);
    if (!r->bad && p->numbers == NULL)
        (void)dpi_fail_nomem(&p->err);
    for (size_t i = 0; !r->bad && p->numbers != NULL && i < n; i++)
        get_number(r, p, &p->numbers[i]);
}

static void get_program(dpi_reader *r, dp_program *p)
{
    const char *text = NULL;
    size_t shape[3];
    p->sheet = true;
    if (!dpi_read_text(r, &p->arena, false, &text) || text == NULL || strcmp(text, magic) != 0)
        r->bad = true;
    p->link = (dp_link)dpi_read_count(r, DP_LINK_SOFTMAX);
    p->draws = dpi_read_count(r, DPI_PROGRAM_SIZE);
    for (int i = 0; i < 3; i++)
        shape[i] = dpi_read_count(r, DPI_PROGRAM_SIZE);
    size_t n = dpi_read_count(r, DPI_PROGRAM_STAGES);
    for (size_t k = 0; !r->bad && k < n; k++)
        get_stage(r, p, shape);
    r->bad = r->bad || n < 2;
    if (!r->bad)
        get_numbers(r, p);
    r->bad = r->bad || r->left != 0 || p->draws == 0 || dp_program_outputs(p) % p->draws != 0;
}

dp_status dp_program_of_sheet(size_t n, const unsigned char *bytes, dp_program **p, dp_error *err)
{
    dpi_reader r = {.at = bytes, .left = n};
    *p = dp_program_new();
    if (*p == NULL)
        return dpi_fail_nomem(err);
    get_program(&r, *p);
    dp_status status = DP_OK;
    if ((*p)->err.status == DP_ENOMEM)
        status = dpi_fail_nomem(err);
    else if (r.bad || (*p)->err.status != DP_OK)
        status = dpi_fail(err, DP_EDATA, "these bytes are not the sheet of a program");
    (*p)->fixed = status == DP_OK;
    if (status != DP_OK) {
        dp_program_free(*p);
        *p = NULL;
    }
    return status;
}
