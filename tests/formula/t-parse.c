/* Formulas as text: canonical forms, messages, limits, memory. */
#include <tacit/formula.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "tests/formula/golden.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

static dp_status parse(const char *family, const char *text, dp_formula **f, dp_error *err)
{
    const dp_formula_opts options = {.family = family};
    return dp_formula_parse(text, &options, f, err);
}

/* The canonical text; it must be that of itself. */
static void put_text(const char *family, const char *formula, FILE *to)
{
    dp_formula *f, *again;
    dp_error err = {0};
    assert_ok(parse(family, formula, &f, &err), err.text);
    (void)fprintf(to, "    %s: %s\n", dp_formula_family(f), dp_formula_text(f));
    assert_ok(parse(dp_formula_family(f), dp_formula_text(f), &again, &err), err.text);
    assert_string_equal(dp_formula_text(again), dp_formula_text(f));
    assert_string_equal(dp_formula_family(again), dp_formula_family(f));
    dp_formula_free(again);
    dp_formula_free(f);
}

static void canonical_texts_are_as_expected(void **state)
{
    (void)state;
    golden_compare("texts.expected", put_text);
    assert_true(golden_count("texts.expected") >= 40);
}

static void put_error(const char *family, const char *formula, FILE *to)
{
    dp_formula *f = (dp_formula *)&f;
    dp_error err = {0};
    const dp_status status = parse(family, formula, &f, &err);
    if (status == DP_OK)
        fail_msg("'%s' is accepted", formula);
    assert_null(f);
    assert_int_equal(status, err.status);
    assert_true(strlen(err.text) < sizeof err.text - 1);
    (void)fprintf(to, "    %s ", dp_status_name(status));
    for (const char *c = err.text; *c != 0; c++) {
        (void)fputc(*c, to);
        if (*c == '\n')
            (void)fputs("    ", to);
    }
    (void)fputc('\n', to);
    assert_int_equal(parse(family, formula, &f, NULL), status);
}

static void errors_point_to_the_place(void **state)
{
    (void)state;
    golden_compare("errors.expected", put_error);
    assert_true(golden_count("errors.expected") >= 60);
}

/* ---- limits ---- */

/* before + part, n times + after. */
static char *repeated(const char *before, const char *part, size_t n, const char *after)
{
    char *text = malloc(strlen(before) + n * strlen(part) + strlen(after) + 1);
    assert_non_null(text);
    char *at = stpcpy(text, before);
    for (size_t i = 0; i < n; i++)
        at = stpcpy(at, part);
    (void)strcpy(at, after);
    return text;
}

static void check_limit(char *text, dp_status expected, const char *why)
{
    dp_formula *f;
    dp_error err = {0};
    const dp_status status = parse(NULL, text, &f, &err);
    if (expected == DP_OK)
        assert_ok(status, err.text);
    else
        assert_fails(status, expected, &err, why);
    dp_formula_free(f);
    free(text);
}

static void what_is_too_much_is_refused(void **state)
{
    (void)state;
    check_limit(repeated("y ~ x", " + x", 498, ""), DP_OK, NULL);
    check_limit(repeated("y ~ x", " + x", 1000, ""), DP_EINVAL, "more than 1000");
    check_limit(repeated("y ~ x", " ", 8192, ""), DP_EINVAL, "at most 8192");
    check_limit(repeated("y ~ x", " ", 8187, ""), DP_OK, NULL);
    check_limit(repeated("y ~ ", "-", 100, "x"), DP_EINVAL, "40 deep");
    check_limit(repeated("y ~ ", "log(", 100, "x"), DP_EINVAL, "40 deep");
    check_limit(repeated("y ~ I(x", "^x", 100, ")"), DP_EINVAL, "40 deep");
    check_limit(repeated("", "y ~ x, ", 16, "y ~ x"), DP_EINVAL, "more than 16");
    check_limit(repeated("y ~ (1 | g", "/g", 40, ")"), DP_EINVAL, "");
    check_limit(repeated("y ~ ", "x", 201, ""), DP_EINVAL, "201 bytes");
    check_limit(repeated("y ~ I(x + ", "1", 41, ")"), DP_EDOMAIN, "too long");
}

/* n variables crossed in pairs, or added. */
static char *variables(size_t n, const char *after)
{
    char *text = malloc(16 * n + 64), *at = stpcpy(text, "y ~ (x0");
    for (size_t i = 1; i < n; i++)
        at += sprintf(at, " + x%zu", i);
    (void)strcpy(at, after);
    return text;
}

static void explosions_are_refused(void **state)
{
    (void)state;
    check_limit(variables(60, ")"), DP_OK, NULL);
    check_limit(variables(61, ")"), DP_EINVAL, "60 variables");
    check_limit(variables(15, ")^2"), DP_OK, NULL);
    check_limit(variables(16, ")^2"), DP_EINVAL, "128 terms");
    check_limit(variables(7, ")^60"), DP_OK, NULL);
    check_limit(variables(50, ")/(z1 + z2 + z3 + z4 + z5 + z6 + z7 + z8 + z9)"), DP_EINVAL,
                "written out");
    check_limit(variables(50, ")^60"), DP_EINVAL, "128 terms");
}

static void any_locale_will_do(void **state)
{
    (void)state;
    dp_formula *f;
    dp_error err = {0};
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
        print_message("no German locale here\n");
        skip();
    }
    assert_ok(parse(NULL, "y ~ I(x / 2.5)", &f, &err), err.text);
    (void)setlocale(LC_ALL, "C");
    assert_string_equal(dp_formula_text(f), "y ~ 1 + I(x / 2.5)");
    dp_formula_free(f);
}

/* ---- memory ---- */

static void survives_memory_running_out_anywhere(void **state)
{
    (void)state;
    static const char text[] =
        "log(y) | weights(w) ~ (x + z)^2 - x:z + poly(x, 2) + offset(log(e)) "
        "+ s(x) + (1 + x | g/h) + (1 | mm(g, h)), sigma ~ x";
    dp_status status = DP_ENOMEM;
    for (size_t k = 1; status != DP_OK; k++) {
        dp_formula *f;
        dp_error err = {0};
        const size_t live = faulty_live();
        faulty_fail(k);
        status = parse("student", text, &f, &err);
        assert_true(status == DP_OK || (status == DP_ENOMEM && f == NULL && faulty_failed()));
        faulty_fail(0);
        dp_formula_free(f);
        assert_int_equal(faulty_live(), live);
        assert_true(k < 1000);
    }
}

static void no_formula_can_be_freed(void **state)
{
    (void)state;
    dp_formula_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_texts_are_as_expected),
        cmocka_unit_test(errors_point_to_the_place),
        cmocka_unit_test(what_is_too_much_is_refused),
        cmocka_unit_test(explosions_are_refused),
        cmocka_unit_test(any_locale_will_do),
        cmocka_unit_test(survives_memory_running_out_anywhere),
        cmocka_unit_test(no_formula_can_be_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
