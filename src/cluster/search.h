/* Radices and baby steps of a DFT over cards: the least of what they cost.
 *
 * A DFT of 2^log_slots places is a product of three matrices, radices r of product 2^log_slots, of
 * which the first has D = r diagonals that are not zero, and the others 2 r.  With b baby steps and
 * C cards there are G = D / (b C) giant steps a card, and the matrix takes
 *
 *   b T_rot + G (b T_times + (b - 1) T_sum + T_rot) + (G - 1) T_sum
 *     + (log2 min(C, D / b) + 1) T_send
 *
 * times 1 - falling i, i = 0, 1, 2, as ciphertexts get shorter; one card sends nothing.  All are
 * powers of two; G stays a fraction below 1.  This is Hydra's equation 1, read so that its table V
 * follows (doc/design/cluster.md). */
#ifndef DPI_CLUSTER_SEARCH_H
#define DPI_CLUSTER_SEARCH_H

#include <stddef.h>

enum { DPI_DFT_MATRICES = 3 };

typedef struct dpi_dft_costs {
    double rotation, times, sum, send, falling;
} dpi_dft_costs;

typedef struct dpi_dft {
    size_t radix[DPI_DFT_MATRICES], baby[DPI_DFT_MATRICES];
    double seconds;
} dpi_dft;

/* What one takes; +INFINITY where a matrix has fewer diagonals than baby steps. */
double dpi_dft_seconds(const dpi_dft *dft, const dpi_dft_costs *costs, size_t cards);

/* The least over all radices and baby steps, and the first of those that are as good.  log_slots 3
 * or more, else misuse. */
dpi_dft dpi_dft_search(size_t log_slots, size_t cards, const dpi_dft_costs *costs);

#endif
