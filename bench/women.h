/* The survey of contraception.c as records of a regression. */
#ifndef BENCH_WOMEN_H
#define BENCH_WOMEN_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

enum { WOMEN_D = 7, WOMEN_DISTRICTS = 60 };

typedef struct women {
    size_t n;
    double
        *x; /* [n][WOMEN_D]: 1, age / 10, its square, urban, living children 1, 2, 3 or more, each
                * divided by its bound */
    double *use;
    int32_t *district;
} women;

/* Public bounds of the predictors: ages are centred, and at most 20 years from the middle. */
extern const double women_bound[WOMEN_D];

/* Reads the survey; the caller frees it, after an error too. */
dp_status women_read(const char *path, women *w, dp_error *err);

/* The number that the survey gives to district k = 0 ... WOMEN_DISTRICTS - 1. */
int women_district(int k);

void women_free(women *w);

#endif
