#include "tests/silo/owners.h"

#include <sodium.h>
#include <string.h>

#include "silo/joint.h"
#include "silo/split.h"
#include "tests/lib/check.h"

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
    dpi_arena_free(&o->arena);
}

static void split(owners *o, const char *scheme, uint16_t aggregator, size_t dropouts)
{
    static const dp_opening one = {"main", 1, 1, 1, false};
    dpi_silo_parties who = {.n = (uint16_t)o->n,
                            .aggregator = aggregator,
                            .colluders = dropouts,
                            .dropouts = dropouts,
                            .most_records = 1};
    dpi_silo_program p;
    dp_error err = {0};
    memcpy(who.names, o->names, sizeof o->names);
    const dpi_silo_scheme *s = dpi_silo_scheme_named(scheme);
    assert_ok(dpi_silo_joint(&p, &who, dpi_silo_joint_kind(s), 1e-5, 1, &one, &err), err.text);
    assert_ok(dpi_silo_split(&p, s, &o->arena, o->parts, &err), err.text);
}

void owners_mask(owners *o, bool dropouts)
{
    split(o, "secagg+dp", 0, dropouts ? 1 : 0);
}

void owners_split(owners *o, const char *scheme, uint16_t aggregator)
{
    split(o, scheme, aggregator, 0);
}

void owners_plain(owners *o)
{
    split(o, "fedsgd", 0, 0);
}

void owners_key(owners *o, uint16_t aggregator)
{
    split(o, "fedsgd+he", aggregator, 0);
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
