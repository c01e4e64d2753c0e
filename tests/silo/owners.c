#include "tests/silo/owners.h"

#include <sodium.h>
#include <string.h>

#include "tests/lib/check.h"

enum { X, M, U, C, K, S, O, REGISTERS };

void owners_make(owners *o, size_t n)
{
    dp_error err = {0};
    memset(o, 0, sizeof *o);
    o->n = n;
    assert_true(sodium_init() >= 0);
    assert_ok(dpi_letter_box_new(&o->box, &err), err.text);
    for (size_t k = 0; k < n; k++) {
        unsigned char seed[crypto_sign_SEEDBYTES] = {(unsigned char)(k + 1)};
        o->names[k][0] = (char)('a' + k);
        (void)crypto_sign_seed_keypair(o->publics[k], o->secrets[k], seed);
    }
    memset(o->plan, 7, sizeof o->plan);
}

void owners_free(owners *o)
{
    dpi_letter_box_free(o->box);
}

static void name(owners *o, int reg, const char *text, uint32_t words, uint32_t bytes, bool scales)
{
    o->registers[reg] = (dpi_silo_register){.words = words, .bytes = bytes, .scales = scales};
    memcpy(o->registers[reg].name, text, strlen(text) + 1);
}

static void add(owners *o, size_t k, dpi_silo_step step)
{
    dpi_silo_part *p = &o->parts[k];
    assert_true(p->n_steps < OWNERS_STEPS);
    o->steps[k][p->n_steps++] = step;
}

static void compute(owners *o, size_t k, dpi_silo_step_kind kind, int out, int a, int b, int c)
{
    add(o, k,
        (dpi_silo_step){
            .kind = kind, .out = (uint16_t)out, .in = {(uint16_t)a, (uint16_t)b, (uint16_t)c}});
}

/* From everybody to owner 0, from it to everybody, or from each to each. */
static void gather(owners *o, int reg, bool may_lack)
{
    for (uint16_t k = 1; k < o->n; k++) {
        add(o, k, (dpi_silo_step){.kind = DPI_SILO_SEND, .out = (uint16_t)reg, .peer = 0});
        add(o, 0,
            (dpi_silo_step){
                .kind = DPI_SILO_RECV, .out = (uint16_t)reg, .peer = k, .may_lack = may_lack});
    }
}

static void spread(owners *o, int reg)
{
    for (uint16_t k = 1; k < o->n; k++) {
        add(o, 0, (dpi_silo_step){.kind = DPI_SILO_SEND, .out = (uint16_t)reg, .peer = k});
        add(o, k, (dpi_silo_step){.kind = DPI_SILO_RECV, .out = (uint16_t)reg, .peer = 0});
    }
}

static void exchange(owners *o, int reg, bool may_lack)
{
    for (uint16_t k = 0; k < o->n; k++)
        for (uint16_t j = 0; j < o->n; j++)
            if (j != k)
                add(o, k, (dpi_silo_step){.kind = DPI_SILO_SEND, .out = (uint16_t)reg, .peer = j});
    for (uint16_t k = 0; k < o->n; k++)
        for (uint16_t j = 0; j < o->n; j++)
            if (j != k)
                add(o, k,
                    (dpi_silo_step){.kind = DPI_SILO_RECV,
                                    .out = (uint16_t)reg,
                                    .peer = j,
                                    .may_lack = may_lack});
}

static void begin(owners *o)
{
    name(o, X, "x", 1, 0, true);
    name(o, M, "x.m", 1, 8, true);
    name(o, U, "x.u", 0, 8, false);
    name(o, C, "x.c", 0, 64, false);
    name(o, K, "x.k", 0, 32 * (uint32_t)o->n, false);
    name(o, S, "x.s", 1, 8, true);
    name(o, O, "h", 1, 0, true);
    for (uint16_t k = 0; k < o->n; k++) {
        o->parts[k] = (dpi_silo_part){.party = k,
                                      .parties = (uint16_t)o->n,
                                      .n_registers = REGISTERS,
                                      .registers = o->registers,
                                      .steps = o->steps[k]};
        compute(o, k, DPI_SILO_DGAUSS, X, X, 0, 0);
    }
}

static void each(owners *o, dpi_silo_step_kind kind, int out, int a, int b)
{
    for (size_t k = 0; k < o->n; k++)
        compute(o, k, kind, out, a, b, 0);
}

void owners_mask(owners *o, bool dropouts)
{
    begin(o);
    each(o, DPI_SILO_MASK, M, X, 0);
    gather(o, M, dropouts);
    compute(o, 0, DPI_SILO_ROSTER, U, M, 0, 0);
    spread(o, U);
    each(o, DPI_SILO_CONSENT, C, U, 0);
    exchange(o, C, dropouts);
    each(o, DPI_SILO_UNLOCK, K, U, C);
    gather(o, K, dropouts);
    compute(o, 0, DPI_SILO_ADDALL, S, M, U, K);
    spread(o, S);
    each(o, DPI_SILO_OPEN, O, S, 0);
}

void owners_plain(owners *o)
{
    begin(o);
    each(o, DPI_SILO_PLAIN, M, X, 0);
    gather(o, M, false);
    compute(o, 0, DPI_SILO_ADDPLAIN, S, M, 0, 0);
    spread(o, S);
    each(o, DPI_SILO_OPEN, O, S, 0);
}

dpi_post_opts owners_post(owners *o, size_t k, dpi_carrier *carrier, uint32_t patience_ms)
{
    dpi_post_opts opts = {.carrier = carrier,
                          .party = k,
                          .parties = o->n,
                          .names = o->names,
                          .publics = o->publics,
                          .secret = o->secrets[k],
                          .patience_ms = patience_ms};
    memcpy(opts.plan, o->plan, sizeof opts.plan);
    return opts;
}
