/* A white-list: a step that is not in the table has no effect that anybody may count on. */
#include "silo/labels.h"

const dpi_label_effect dpi_label_effects[DPI_SILO_N_STEPS] = {
    [DPI_SILO_INQUIRE] = {{DPI_LABEL_CLEAR, DPI_LABEL_CLEAR},
                          DPI_LABEL_CLEAR,
                          {DPI_LABEL_OWN, DPI_LABEL_OWN}},
    [DPI_SILO_ISUM] = {{DPI_LABEL_CLEAR}, DPI_LABEL_CLEAR, {DPI_LABEL_OWN}},
    [DPI_SILO_WALK] = {{DPI_LABEL_CLEAR, DPI_LABEL_CLEAR},
                       DPI_LABEL_CLEAR,
                       {DPI_LABEL_OWN, DPI_LABEL_OWN}},
    [DPI_SILO_DGAUSS] = {{DPI_LABEL_CLEAR}, DPI_LABEL_CLEAR, {DPI_LABEL_OWN}},
    [DPI_SILO_CAVITY] = {{DPI_LABEL_CLEAR, DPI_LABEL_CLEAR},
                         DPI_LABEL_CLEAR,
                         {DPI_LABEL_OWN, DPI_LABEL_OWN}},
    [DPI_SILO_REFINE] = {{DPI_LABEL_CLEAR, DPI_LABEL_CLEAR},
                         DPI_LABEL_CLEAR,
                         {DPI_LABEL_OWN, DPI_LABEL_OWN}},
    [DPI_SILO_OFFER] = {{DPI_LABEL_CLEAR}, DPI_LABEL_CLEAR, {DPI_LABEL_OWN}},
    [DPI_SILO_RETAIN] = {{DPI_LABEL_CLEAR, DPI_LABEL_CLEAR},
                         DPI_LABEL_CLEAR,
                         {DPI_LABEL_OWN, DPI_LABEL_OWN}},
    [DPI_SILO_ADVANCE] = {{DPI_LABEL_CLEAR, DPI_LABEL_CLEAR},
                          DPI_LABEL_CLEAR,
                          {DPI_LABEL_OWN, DPI_LABEL_OWN}},
    [DPI_SILO_MASK] = {{DPI_LABEL_CLEAR}, DPI_LABEL_MASKED, {DPI_LABEL_OWN}},
    [DPI_SILO_ROSTER] = {{DPI_LABEL_MASKED}, DPI_LABEL_ROSTER, {DPI_LABEL_EVERYBODY}},
    [DPI_SILO_CONSENT] = {{DPI_LABEL_ROSTER}, DPI_LABEL_CONSENT, {DPI_LABEL_AGGREGATOR}},
    [DPI_SILO_UNLOCK] = {{DPI_LABEL_ROSTER, DPI_LABEL_CONSENT},
                         DPI_LABEL_KEYS,
                         {DPI_LABEL_AGGREGATOR, DPI_LABEL_EVERYBODY}},
    [DPI_SILO_ADDALL] = {{DPI_LABEL_MASKED, DPI_LABEL_ROSTER, DPI_LABEL_KEYS},
                         DPI_LABEL_CLEAR,
                         {DPI_LABEL_EVERYBODY, DPI_LABEL_AGGREGATOR, DPI_LABEL_EVERYBODY}},
    [DPI_SILO_PLAIN] = {{DPI_LABEL_CLEAR}, DPI_LABEL_CLEAR, {DPI_LABEL_OWN}},
    [DPI_SILO_ADDPLAIN] = {{DPI_LABEL_CLEAR}, DPI_LABEL_CLEAR, {DPI_LABEL_EVERYBODY}},
    [DPI_SILO_OPEN] = {{DPI_LABEL_CLEAR}, DPI_LABEL_CLEAR, {DPI_LABEL_AGGREGATOR}},
    [DPI_SILO_KEYPART] = {{DPI_LABEL_ABSENT}, DPI_LABEL_KEYPART, {DPI_LABEL_OWN}},
    [DPI_SILO_SEALED] = {{DPI_LABEL_CLEAR, DPI_LABEL_KEYPART},
                         DPI_LABEL_SEALED,
                         {DPI_LABEL_OWN, DPI_LABEL_REST}},
    [DPI_SILO_COVER] = {{DPI_LABEL_CLEAR, DPI_LABEL_SEALED},
                        DPI_LABEL_COVERED,
                        {DPI_LABEL_OWN, DPI_LABEL_OWN}},
    [DPI_SILO_AGREE] = {{DPI_LABEL_SEALED}, DPI_LABEL_AGREED, {DPI_LABEL_REST}},
    [DPI_SILO_PARTIAL] = {{DPI_LABEL_SEALED, DPI_LABEL_AGREED},
                          DPI_LABEL_PARTIAL,
                          {DPI_LABEL_REST, DPI_LABEL_REST}},
    [DPI_SILO_COMBINE] = {{DPI_LABEL_CLEAR, DPI_LABEL_COVERED, DPI_LABEL_PARTIAL},
                          DPI_LABEL_CLEAR,
                          {DPI_LABEL_OWN, DPI_LABEL_REST, DPI_LABEL_REST}},
    [DPI_SILO_BOUND] = {{DPI_LABEL_CLEAR}, DPI_LABEL_CLEAR, {DPI_LABEL_OWN}},
    [DPI_SILO_ADDEND] = {{DPI_LABEL_CLEAR, DPI_LABEL_CLEAR},
                         DPI_LABEL_CLEAR,
                         {DPI_LABEL_OWN, DPI_LABEL_OWN}},
    [DPI_SILO_INNER] = {{DPI_LABEL_CLEAR, DPI_LABEL_CLEAR},
                        DPI_LABEL_CLEAR,
                        {DPI_LABEL_OWN, DPI_LABEL_OWN}},
    [DPI_SILO_ENCRYPT] = {{DPI_LABEL_CLEAR}, DPI_LABEL_COLUMNS, {DPI_LABEL_OWN}},
    [DPI_SILO_ANSWER] = {{DPI_LABEL_COLUMNS, DPI_LABEL_CLEAR},
                         DPI_LABEL_ANSWER,
                         {DPI_LABEL_OTHERS, DPI_LABEL_OWN}},
    [DPI_SILO_VEIL] = {{DPI_LABEL_COLUMNS, DPI_LABEL_CLEAR},
                       DPI_LABEL_ANSWER,
                       {DPI_LABEL_OTHERS, DPI_LABEL_OWN}},
    [DPI_SILO_UNVEIL] = {{DPI_LABEL_CLEAR, DPI_LABEL_ANSWER},
                         DPI_LABEL_CLEAR,
                         {DPI_LABEL_OWN, DPI_LABEL_OTHERS}},
    [DPI_SILO_EMBED] = {{DPI_LABEL_CLEAR, DPI_LABEL_CLEAR},
                        DPI_LABEL_CLEAR,
                        {DPI_LABEL_OWN, DPI_LABEL_OWN}},
    [DPI_SILO_ADJOINT] = {{DPI_LABEL_CLEAR, DPI_LABEL_CLEAR, DPI_LABEL_CLEAR},
                          DPI_LABEL_CLEAR,
                          {DPI_LABEL_OWN, DPI_LABEL_OWN, DPI_LABEL_OTHERS}},
    [DPI_SILO_SLOPE] = {{DPI_LABEL_CLEAR, DPI_LABEL_CLEAR, DPI_LABEL_CLEAR},
                        DPI_LABEL_CLEAR,
                        {DPI_LABEL_OWN, DPI_LABEL_OWN, DPI_LABEL_OTHERS}},
    [DPI_SILO_PULLBACK] = {{DPI_LABEL_CLEAR, DPI_LABEL_CLEAR, DPI_LABEL_CLEAR},
                           DPI_LABEL_CLEAR,
                           {DPI_LABEL_OWN, DPI_LABEL_OWN, DPI_LABEL_OTHERS}},
    [DPI_SILO_DEAL] = {{DPI_LABEL_CLEAR}, DPI_LABEL_DEALT, {DPI_LABEL_OWN}},
    [DPI_SILO_GATHER] = {{DPI_LABEL_DEALT}, DPI_LABEL_SHARE, {DPI_LABEL_OWNERS}},
    [DPI_SILO_RESIDUAL] = {{DPI_LABEL_CLEAR, DPI_LABEL_SHARE},
                           DPI_LABEL_SHARE,
                           {DPI_LABEL_OWN, DPI_LABEL_OWN}},
    [DPI_SILO_TALLY] = {{DPI_LABEL_SHARE, DPI_LABEL_SHARE},
                        DPI_LABEL_SHARE,
                        {DPI_LABEL_OWN, DPI_LABEL_OWN}},
    [DPI_SILO_SHROUD] = {{DPI_LABEL_ABSENT}, DPI_LABEL_DEALT, {DPI_LABEL_OWN}},
    [DPI_SILO_BLEND] = {{DPI_LABEL_SHARE, DPI_LABEL_DEALT},
                        DPI_LABEL_SHARE,
                        {DPI_LABEL_OWN, DPI_LABEL_EVERYBODY}},
    [DPI_SILO_DESCEND] = {{DPI_LABEL_SHARE}, DPI_LABEL_SHARE, {DPI_LABEL_OWN}},
    [DPI_SILO_DISCLOSE] = {{DPI_LABEL_SHARE}, DPI_LABEL_OPENED, {DPI_LABEL_OWN}},
    [DPI_SILO_JOIN] = {{DPI_LABEL_OPENED}, DPI_LABEL_CLEAR, {DPI_LABEL_EVERYBODY}},
};

void dpi_label_follow(dpi_label *l, const dpi_label *from)
{
    l->named = from->raw == 0 || from->named ? l->named : false;
    l->raw |= from->raw;
    l->through |= from->through;
    l->alone |= from->alone;
}

uint64_t dpi_label_read(const dpi_silo_parties *who, size_t k, dpi_label_whose of)
{
    return of == DPI_LABEL_OWN          ? (uint64_t)1 << k
           : of == DPI_LABEL_AGGREGATOR ? (uint64_t)1 << who->aggregator
           : of == DPI_LABEL_OTHERS     ? dpi_silo_everyone(who) & ~((uint64_t)1 << k)
           : of == DPI_LABEL_OWNERS     ? dpi_silo_owners(who)
           : of == DPI_LABEL_REST       ? dpi_silo_everyone(who) & ~((uint64_t)1 << who->aggregator)
                                        : dpi_silo_everyone(who);
}

const char *dpi_label_stays(dpi_label_form form, bool to_aggregator)
{
    switch (form) {
    case DPI_LABEL_KEYS:
        return to_aggregator ? NULL : "keys of masks are for the one that adds up, not for ";
    case DPI_LABEL_COVERED:
    case DPI_LABEL_PARTIAL:
        return to_aggregator ? NULL
                             : "with it and a share of the key another's vector can be opened; it "
                               "is for the one that adds up, not for ";
    case DPI_LABEL_KEYPART:
    case DPI_LABEL_SEALED:
    case DPI_LABEL_AGREED:
        return to_aggregator ? "it is for owners of the key, and not for the one that adds up: "
                             : NULL;
    case DPI_LABEL_SHARE:
        return "with a second share of it there is what it is of: until it is disclosed it is for "
               "its own party, and not for ";
    default:
        return NULL;
    }
}

bool dpi_label_is_release(size_t n, const dpi_labels *sent)
{
    bool good = true;
    for (size_t j = 0; j < n; j++) {
        const dpi_label *l = &sent->from[j];
        const uint64_t only = (uint64_t)1 << j;
        good = good && l->shares == only && (l->raw & ~only) == 0 && l->bounded && l->summed &&
               l->noise == sent->from[0].noise;
    }
    return good;
}

bool dpi_label_is_veiled(const dpi_silo_parties *who, size_t k, const dpi_label *l)
{
    const uint64_t others = dpi_silo_everyone(who) & ~((uint64_t)1 << k);
    return others != 0 && (l->shares & others) == others && l->bounded && l->summed;
}

void dpi_label_multiply(dpi_label *l, const dpi_label *columns, const dpi_label *numbers)
{
    l->summed = columns->rows && numbers->rows;
    l->bounded = l->summed && columns->bounded && numbers->bounded;
}

void dpi_label_make(dpi_label *l, const dpi_silo_step *s, size_t party, const dpi_label *first,
                    const dpi_label *second, uint16_t made)
{
    switch (s->kind) {
    case DPI_SILO_INQUIRE: /* a question, and records */
        l->rows = second->rows;
        l->bounded = l->rows && first->raw == 0;
        break;
    case DPI_SILO_ISUM:
        l->bounded = first->rows && first->bounded;
        l->summed = first->rows;
        break;
    case DPI_SILO_WALK: /* of all records at once: what one adds has no bound */
        l->summed = second->rows;
        break;
    case DPI_SILO_REFINE: /* noisy sums over its own records, asked for by what follows from none */
        if (second->rows && first->raw == 0 && (second->raw & ~((uint64_t)1 << party)) == 0) {
            l->through |= l->raw;
            l->alone |= l->raw;
            l->raw = 0;
        }
        break;
    case DPI_SILO_DGAUSS:
        l->bounded = first->bounded;
        l->summed = first->summed;
        l->shares = (uint64_t)1 << party;
        l->noise = made;
        break;
    case DPI_SILO_MASK:
    case DPI_SILO_COVER:
    case DPI_SILO_PLAIN:
    case DPI_SILO_OPEN:
        l->bounded = first->bounded;
        l->summed = first->summed;
        l->shares = first->shares;
        l->noise = first->noise;
        break;
    case DPI_SILO_BOUND:
        l->rows = l->bounded = first->rows;
        break;
    case DPI_SILO_ADDEND: /* coefficients, and rows */
        l->rows = second->rows;
        l->bounded = second->bounded && first->raw == 0;
        break;
    case DPI_SILO_INNER:
        dpi_label_multiply(l, first, second);
        break;
    case DPI_SILO_EMBED: /* parameters, and rows */
    case DPI_SILO_ADJOINT:
        l->rows = second->rows;
        break;
    case DPI_SILO_ENCRYPT:
        l->rows = first->rows;
        l->bounded = first->bounded;
        l->key = (uint16_t)party;
        break;
    case DPI_SILO_VEIL:
        l->shares = (uint64_t)1 << party;
        l->noise = made;
        dpi_label_multiply(l, first, second);
        l->key = first->key;
        break;
    case DPI_SILO_ANSWER:
        dpi_label_multiply(l, first, second);
        l->key = first->key;
        break;
    default:
        break;
    }
}
