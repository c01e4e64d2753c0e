/* Powers of a fixed base out of a table. */
#include "crypto/comb.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "crypto/limbs.h"

enum { WINDOW = 5, ENTRIES = 1 << WINDOW };

struct dpi_comb {
    const dpi_montgomery *m;
    size_t bits, windows, stride; /* words of a window */
    uint64_t *table;              /* [windows][stride] */
};

/* *power = base^(32^j) becomes that of j + 1: the product behind the last entry. */
static void fill_window(const dpi_comb *c, uint64_t *power, uint64_t *entry, uint64_t *to)
{
    const dpi_montgomery *m = c->m;
    memcpy(entry, m->one, dpi_montgomery_eight(m) * sizeof *entry);
    for (size_t digit = 0; digit < ENTRIES; digit++) {
        m->backend->put(m, m->moduli, ENTRIES, digit, entry, to);
        m->backend->multiply(m, m->moduli, entry, power, entry);
    }
    memcpy(power, entry, dpi_montgomery_eight(m) * sizeof *entry);
}

dp_status dpi_comb_new(const dpi_montgomery *m, const uint64_t *base, size_t bits, dpi_comb **comb,
                       dp_error *err)
{
    *comb = NULL;
    dpi_comb *made = dpi_alloc(1, sizeof *made);
    uint64_t *space = dpi_montgomery_alloc(m, 2);
    if (made == NULL || space == NULL) {
        dpi_free(made);
        dpi_montgomery_release(m, space);
        return dpi_fail_nomem(err);
    }
    *made = (dpi_comb){.m = m, .bits = bits, .windows = (bits + WINDOW - 1) / WINDOW};
    made->stride = ENTRIES * m->moduli * m->words;
    size_t eights = made->stride * made->windows / dpi_montgomery_eight(m) + 1;
    made->table = dpi_montgomery_alloc(m, eights);
    if (made->table == NULL) {
        dpi_free(made);
        dpi_montgomery_release(m, space);
        return dpi_fail_nomem(err);
    }
    memcpy(space, base, dpi_montgomery_eight(m) * sizeof *space);
    for (size_t w = 0; w < made->windows; w++)
        fill_window(made, space, space + dpi_montgomery_eight(m), made->table + w * made->stride);
    dpi_montgomery_release(m, space);
    *comb = made;
    return DP_OK;
}

void dpi_comb_free(dpi_comb *comb)
{
    if (comb == NULL)
        return;
    dpi_montgomery_release(comb->m, comb->table);
    dpi_free(comb);
}

void dpi_comb_power(const dpi_comb *comb, size_t lanes, const mp_limb_t *const *exponent,
                    uint64_t *factor, uint64_t *out)
{
    const dpi_montgomery *m = comb->m;
    memcpy(out, m->one, dpi_montgomery_eight(m) * sizeof *out);
    for (size_t w = 0; w < comb->windows; w++) {
        uint64_t index[DPI_LANES] = {0};
        for (size_t lane = 0; lane < lanes; lane++)
            index[lane] = dpi_montgomery_window(exponent[lane], comb->bits, w * WINDOW, WINDOW);
        m->backend->select(m, m->moduli, ENTRIES, comb->table + w * comb->stride, index, factor);
        m->backend->multiply(m, lanes, out, factor, out);
    }
}
