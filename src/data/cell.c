/* Fields into numbers and levels.
 *
 *   number = [sign] (digits ["." *digit] / "." digits) [("e" / "E") [sign] digits], blanks around
 *
 * The grammar is checked here, because strtod takes more: hexadecimal, "inf", and in other locales
 * a decimal comma.  strtod does the conversion, correctly rounded, under the C locale, which the
 * caller sets for its thread; but numbers of few digits are converted here, to the same doubles. 
 * Levels are found by bisection, log2(n) comparisons a field. Messages never hold the field itself:
 * it is private. */
#include "data/cell.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

const char *dpi_position_word(const dpi_field_position *at)
{
    return at->record ? "record" : "line";
}

static dp_status bad(const dpi_field_position *at, const char *what, dp_error *err)
{
    return dpi_fail(err, DP_EDATA, "%s, %s %zu, column '%s': %s", at->source, dpi_position_word(at),
                    at->line, at->column, what);
}

static dp_status missing(const dpi_field_position *at, dp_error *err)
{
    return bad(at, "the value is missing (an empty field or NA); fill it in or remove the record",
               err);
}

static dp_status not_finite(const dpi_field_position *at, dp_error *err)
{
    return bad(at, "the value is not finite; give a number or remove the record", err);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t");
}

static const char *skip_digits(const char *p)
{
    while (is_digit(*p))
        p++;
    return p;
}

static const char *skip_sign(const char *p)
{
    return *p == '+' || *p == '-' ? p + 1 : p;
}

static bool is_number(const char *p)
{
    p = skip_sign(p);
    const char *whole = skip_digits(p);
    const char *end = *whole == '.' ? skip_digits(whole + 1) : whole;
    if (whole == p && end <= whole + 1)
        return false;
    if (*end == 'e' || *end == 'E') {
        const char *exponent = skip_sign(end + 1);
        end = skip_digits(exponent);
        if (end == exponent)
            return false;
    }
    return *skip_blanks(end) == 0;
}

/* The number in a text of the plain kind, [sign] digits ["." digits], that has few digits; else
 * false.  With digits of value m <= 2^53 and k <= 22 of them behind the point m / 10^k is a
 * division of two doubles that are exact, and so correctly rounded, as strtod's result is (Clinger
 * 1990, "How to read floating point numbers accurately"). */
static bool few_digits(const char *p, double *value)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    enum { MOST = 18 /* digits below 2^63 */ };
    const bool minus = *p == '-';
    const char *begin = skip_sign(p), *point = NULL;
    uint64_t m = 0;
    p = begin;
    for (; is_digit(*p) || (*p == '.' && point == NULL); p++)
        if (*p == '.')
            point = p;
        else if (p - begin < MOST)
            m = 10 * m + (uint64_t)(*p - '0');
    const ptrdiff_t digits = p - begin - (point != NULL),
                    behind = point != NULL ? p - point - 1 : 0;
    if (digits == 0 || p - begin > MOST || m > (uint64_t)1 << 53 || *skip_blanks(p) != 0)
        return false;
    *value = (double)m / power[behind];
    *value = minus ? -*value : *value;
    return true;
}

/* Whether the text, in any case, is one of the words for what is not finite, sign aside. */
static bool is_not_finite(const char *p)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    p = skip_sign(p);
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++) {
        size_t i = 0;
        while (words[w][i] != 0 && (p[i] | 0x20) == words[w][i])
            i++;
        if (words[w][i] == 0 && *skip_blanks(p + i) == 0)
            return true;
    }
    return false;
}

static bool is_missing(const char *p)
{
    if (strncmp(p, "NA", 2) == 0)
        p += 2;
    return *skip_blanks(p) == 0;
}

static dp_status number(const char *field, const dpi_field_position *at, double *value,
                        dp_error *err)
{
    const char *p = skip_blanks(field);
    if (few_digits(p, value))
        return DP_OK;
    *value = NAN;
    if (is_missing(p))
        return missing(at, err);
    if (is_not_finite(p))
        return not_finite(at, err);
    if (!is_number(p))
        return bad(
            at,
            "the value is not a number; write digits with a decimal point, or declare the column "
            "LEVEL with its words",
            err);
    double parsed = strtod(p, NULL);
    if (!isfinite(parsed))
        return bad(at, "the value is too large for a double; change its unit", err);
    *value = parsed;
    return DP_OK;
}

bool dpi_cell_missing(const char *field)
{
    return is_missing(skip_blanks(field));
}

bool dpi_cell_number(const char *field, double *value)
{
    const char *p = skip_blanks(field);
    *value = is_number(p) ? strtod(p, NULL) : NAN;
    return isfinite(*value);
}

/* One that comes as such, and not as text. */
static dp_status check_number(double value, const dpi_field_position *at, dp_error *err)
{
    if (isnan(value))
        return missing(at, err);
    return isfinite(value) ? DP_OK : not_finite(at, err);
}

static dp_status into_range(const dp_column *column, const dpi_field_position *at, double *value,
                            dp_error *err)
{
    bool inside = *value >= column->low && *value <= column->high;
    if (!inside && !column->clamp) {
        *value = NAN;
        return dpi_fail(err, DP_EDOMAIN,
                        "%s, %s %zu, column '%s': the value is outside the declared range "
                        "%.15g to %.15g; declare a wider range from public knowledge, or set clamp",
                        at->source, dpi_position_word(at), at->line, at->column, column->low,
                        column->high);
    }
    if (!inside)
        *value = *value < column->low ? column->low : column->high;
    return DP_OK;
}

dp_status dpi_cell_real(const dp_column *column, const char *field, const dpi_field_position *at,
                        double *value, dp_error *err)
{
    dp_status status = number(field, at, value, err);
    return status == DP_OK ? into_range(column, at, value, err) : status;
}

dp_status dpi_cell_real_number(const dp_column *column, double number, const dpi_field_position *at,
                               double *value, dp_error *err)
{
    dp_status status = check_number(number, at, err);
    *value = status == DP_OK ? number : NAN;
    return status == DP_OK ? into_range(column, at, value, err) : status;
}

static dp_status into_level(const dp_column *column, double value, const dpi_field_position *at,
                            int32_t *level, dp_error *err)
{
    if (value != floor(value))
        return bad(at, "the value is not a whole number; declare the column REAL", err);
    if (!(value >= column->low && value <= column->high))
        return dpi_fail(err, DP_EDOMAIN,
                        "%s, %s %zu, column '%s': the value is outside the declared range "
                        "%.15g to %.15g; declare a wider range from public knowledge",
                        at->source, dpi_position_word(at), at->line, at->column, column->low,
                        column->high);
    *level = (int32_t)(value - column->low);
    return DP_OK;
}

dp_status dpi_cell_integer(const dp_column *column, const char *field, const dpi_field_position *at,
                           int32_t *level, dp_error *err)
{
    double value;
    *level = -1;
    dp_status status = number(field, at, &value, err);
    return status == DP_OK ? into_level(column, value, at, level, err) : status;
}

dp_status dpi_cell_integer_number(const dp_column *column, double number,
                                  const dpi_field_position *at, int32_t *level, dp_error *err)
{
    *level = -1;
    dp_status status = check_number(number, at, err);
    return status == DP_OK ? into_level(column, number, at, level, err) : status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const dpi_level *)a)->name, ((const dpi_level *)b)->name);
}

dp_status dpi_levels_sort(const dp_column *column, dpi_arena *arena, dpi_level **sorted,
                          dp_error *err)
{
    size_t n = column->n_levels;
    *sorted = NULL;
    dpi_level *levels = dpi_arena_alloc(arena, n, sizeof *levels);
    if (levels == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        if (column->levels[i] == NULL || column->levels[i][0] == 0)
            return dpi_fail(err, DP_EINVAL, "column '%s': level %zu is empty; give it a name",
                            column->name, i);
        levels[i] = (dpi_level){column->levels[i], (int32_t)i};
    }
    qsort(levels, n, sizeof *levels, by_name);
    for (size_t i = 1; i < n; i++)
        if (strcmp(levels[i - 1].name, levels[i].name) == 0)
            return dpi_fail(err, DP_EINVAL, "column '%s': level '%s' is declared twice; remove one",
                            column->name, levels[i].name);
    *sorted = levels;
    return DP_OK;
}

dp_status dpi_cell_level(const dpi_level *sorted, size_t n, const char *field,
                         const dpi_field_position *at, int32_t *level, dp_error *err)
{
    size_t low = 0, high = n;
    *level = -1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(field, sorted[middle].name);
        if (order == 0) {
            *level = sorted[middle].number;
            return DP_OK;
        }
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    if (is_missing(skip_blanks(field)))
        return missing(at, err);
    return dpi_fail(
        err, DP_EDOMAIN,
        "%s, %s %zu, column '%s': the value is none of the %zu declared levels; "
        "declare all levels from public knowledge, spelt as in the file (case and blanks count)",
        at->source, dpi_position_word(at), at->line, at->column, n);
}
