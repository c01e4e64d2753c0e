/* A locale of the thread's own, for as long as a number takes. */
#define _POSIX_C_SOURCE 200809L
#include "base/plain.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

int dpi_plain_print(char *to, size_t n, const char *format, va_list list)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return -1;
    locale_t before = uselocale(plain);
    int length = vsnprintf(to, n, format, list);
    (void)uselocale(before);
    freelocale(plain);
    return length;
}

double dpi_plain_real(const char *text, size_t *n)
{
    char *end;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    *n = 0;
    if (plain == (locale_t)0)
        return 0;
    locale_t before = uselocale(plain);
    double value = strtod(text, &end);
    *n = (size_t)(end - text);
    (void)uselocale(before);
    freelocale(plain);
    return value;
}
