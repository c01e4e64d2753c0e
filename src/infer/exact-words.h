/* When the chains of a fit without privacy are good enough, and what is said of them. */
#ifndef DPI_INFER_EXACT_WORDS_H
#define DPI_INFER_EXACT_WORDS_H

#include <tacit/fit.h>

#include "infer/hmc.h"

enum { DPI_EXACT_WORDS = 320, DPI_EXACT_CHECKS = 2 };

/* Of n_draws draws of all chains. */
bool dpi_exact_is_good(const dpi_hmc_report *report, size_t n_draws);

/* Two checks, whose words are in words[]. */
void dpi_exact_say(const dpi_hmc_report *report, size_t n_draws,
                   dp_diagnostic list[DPI_EXACT_CHECKS],
                   char words[DPI_EXACT_CHECKS][DPI_EXACT_WORDS]);

#endif
