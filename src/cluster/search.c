/* All radices and, of each matrix alone, all baby steps: a few hundred. */
#include "cluster/search.h"

#include <math.h>

#include "base/error.h"

static double matrix_seconds(size_t diagonals, size_t baby, const dpi_dft_costs *t, size_t cards)
{
    const double steps = (double)diagonals / (double)baby, b = (double)baby;
    const double giant = steps / (double)cards;
    if (steps < 1)
        return INFINITY;
    const double compute =
        b * t->rotation + giant * (b * t->times + (b - 1) * t->sum + t->rotation);
    const double rounds = cards == 1 ? 0 : log2(fmin((double)cards, steps)) + 1;
    return compute + (giant - 1) * t->sum + rounds * t->send;
}

static size_t diagonals_of(size_t i, size_t radix)
{
    return i == 0 ? radix : 2 * radix;
}

double dpi_dft_seconds(const dpi_dft *dft, const dpi_dft_costs *costs, size_t cards)
{
    double seconds = 0;
    for (size_t i = 0; i < DPI_DFT_MATRICES; i++)
        seconds += (1 - costs->falling * (double)i) *
                   matrix_seconds(diagonals_of(i, dft->radix[i]), dft->baby[i], costs, cards);
    return seconds;
}

static size_t best_baby(size_t diagonals, const dpi_dft_costs *costs, size_t cards)
{
    size_t best = 1;
    for (size_t b = 2; b <= diagonals; b *= 2)
        if (matrix_seconds(diagonals, b, costs, cards) <
            matrix_seconds(diagonals, best, costs, cards))
            best = b;
    return best;
}

dpi_dft dpi_dft_search(size_t log_slots, size_t cards, const dpi_dft_costs *costs)
{
    dpi_dft best = {.seconds = INFINITY};
    if (log_slots < DPI_DFT_MATRICES || cards == 0)
        dpi_misuse(__func__, "a DFT of three matrices has 8 places at least, and a card");
    for (size_t a = 1; a + 2 <= log_slots; a++)
        for (size_t b = 1; a + b + 1 <= log_slots; b++) {
            dpi_dft d = {
                .radix = {(size_t)1 << a, (size_t)1 << b, (size_t)1 << (log_slots - a - b)}};
            for (size_t i = 0; i < DPI_DFT_MATRICES; i++)
                d.baby[i] = best_baby(diagonals_of(i, d.radix[i]), costs, cards);
            d.seconds = dpi_dft_seconds(&d, costs, cards);
            if (d.seconds < best.seconds)
                best = d;
        }
    return best;
}
