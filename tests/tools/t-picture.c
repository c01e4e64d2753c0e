#define _POSIX_C_SOURCE 200809L
#include "tools/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tools/gnuplot.h"
#include "tools/picture-inline.h"
#include "tools/text.h"

/* Names that would do harm, or not be drawn as they are, were they taken for more than text. */
static const char *const names[] = {"`touch picture-harm`",
                                    "\"\nsystem(\"touch picture-harm\")\n\"",
                                    "'); system('touch picture-harm'",
                                    "</text><script>alert(1)</script>",
                                    "@x 100% %s %n \\101 (1)",
                                    "a_b^{c} {/=40 d} &amp;",
                                    "\xff\xfe\x1b[0m",
                                    "\xe2\x80\xaetrop\xe2\x80\xac",
                                    "Stra\xc3\x9f"
                                    "e \xe6\x9d\xb1\xe4\xba\xac"};
enum { ROWS = sizeof names / sizeof names[0] };
static const double middle[ROWS] = {.1, -.2, .5, .9, 1, 2, 3, NAN, 1e300},
                    least[ROWS] = {-.1, -.4, .2, NAN, 1, 1, -INFINITY, 0, 0},
                    most[ROWS] = {.3, 0, .8, 1.2, 1, 3, 4, 1, 1};

static void need_gnuplot(void)
{
    char *bytes;
    size_t size;
    message why = {""};
    if (!gnuplot_run("print 1", 7, &bytes, &size, &why) && strstr(why.text, "PATH") != NULL) {
        print_message("gnuplot is not here\n");
        skip();
    }
    free(bytes);
}

/* What is drawn, with a zero behind it; freed by the caller. */
static char *drawn(const picture *p, picture_format format, size_t *size)
{
    char *bytes = NULL;
    message why = {""};
    FILE *out = open_memstream(&bytes, size);
    assert_non_null(out);
    const bool good = picture_draw(p, format, out, &why);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(why.text, "");
    assert_true(good);
    return bytes;
}

static picture rows_of(const picture_series *s)
{
    return (picture){.id = "p7",
                     .title = names[1],
                     .names = names,
                     .n_names = ROWS,
                     .value = {.label = names[2]},
                     .series = s,
                     .n = 1,
                     .rule = 0};
}

static void names_are_text_and_nothing_else(void **state)
{
    (void)state;
    need_gnuplot();
    size_t size;
    for (picture_format f = PICTURE_SVG; f <= PICTURE_INLINE; f++)
        for (int k = 0; k < ROWS; k++) {
            const picture_series s = {names[k], PICTURE_POINT, ROWS, NULL, middle, least, most};
            const picture p = rows_of(&s);
            free(drawn(&p, f, &size));
        }
    assert_int_not_equal(access("picture-harm", F_OK), 0);
}

static void names_are_shown_as_they_are(void **state)
{
    (void)state;
    need_gnuplot();
    size_t size;
    const picture_series s = {"a < b & c", PICTURE_POINT, ROWS, NULL, middle, least, most};
    const picture p = rows_of(&s);
    char *svg = drawn(&p, PICTURE_INLINE, &size);
    assert_contains(svg, ">`touch picture-harm`</text>");
    assert_contains(svg, ">@x 100% %s %n \\101 (1)</text>");
    assert_contains(svg, ">a_b^{c} {/=40 d} &amp;amp;</text>");
    assert_contains(svg, ">Stra\xc3\x9f"
                         "e \xe6\x9d\xb1\xe4\xba\xac</text>");
    assert_contains(svg, ">a &lt; b &amp; c</text>");
    assert_contains(svg, ">'); system('touch picture");
    assert_null(strstr(svg, "<script"));
    free(svg);
}

static void an_element_of_a_page_has_nothing_from_outside(void **state)
{
    (void)state;
    need_gnuplot();
    size_t size, ids = 0;
    const picture_series s = {NULL, PICTURE_LINE, ROWS - 2, NULL, middle, least, most};
    const picture p = {.id = "p7", .title = "a \" b", .series = &s, .n = 1, .rule = NAN};
    char *svg = drawn(&p, PICTURE_INLINE, &size);
    assert_int_equal(strncmp(svg, "<svg viewBox=\"0 0 440 ", 22), 0);
    assert_contains(svg, "width=\"100%\" role=\"img\" aria-label=\"a &quot; b\">");
    static const char *const none[] = {"http",  "url(",    "<style", "<script", "<title",
                                       "class", "onclick", "<!",     "<?",      "xlink"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (strstr(svg, none[i]) != NULL)
            fail_msg("the element has '%s'", none[i]);
    for (const char *id = strstr(svg, " id=\""); id != NULL; id = strstr(id + 1, " id=\""), ids++)
        assert_int_equal(strncmp(id + 5, "p7-", 3), 0);
    assert_true(ids > 0);
    for (const char *to = strstr(svg, "href=\""); to != NULL; to = strstr(to + 1, "href=\""))
        assert_int_equal(strncmp(to + 6, "#p7-", 4), 0);
    free(svg);
}

/* Where the marks of a picture stand, in the order of its rows: "translate(X,Y) scale". */
static size_t marks(const char *svg, double x[ROWS], double y[ROWS])
{
    size_t n = 0;
    for (const char *at = strstr(svg, "translate("); at != NULL; at = strstr(at + 1, "translate("))
        if (n < ROWS && sscanf(at, "translate(%lf,%lf) scale", &x[n], &y[n]) == 2 &&
            strncmp(strchr(at, ')'), ") scale", 7) == 0)
            n++;
    return n;
}

static void rows_go_down_and_values_across(void **state)
{
    (void)state;
    need_gnuplot();
    size_t size;
    double x[ROWS], y[ROWS];
    static const double value[] = {-1, 3, 1};
    const picture_series s = {.style = PICTURE_POINT, .n = 3, .value = value};
    picture p = {.id = "p", .names = names, .n_names = 3, .series = &s, .n = 1, .rule = NAN};
    char *svg = drawn(&p, PICTURE_INLINE, &size);
    assert_int_equal(marks(svg, x, y), 3);
    assert_close(y[1] - y[0], y[2] - y[1], 0, .02);
    assert_true(y[1] > y[0]);
    assert_close((x[2] - x[0]) / (x[1] - x[0]), .5, 0, .001);
    assert_true(x[1] > x[0]);
    free(svg);
    p.n_names = 0;
    p.value.log = true; /* which the first value is not fit for */
    svg = drawn(&p, PICTURE_INLINE, &size);
    assert_int_equal(marks(svg, x, y), 2);
    assert_true(x[1] > x[0] && y[1] > y[0]);
    free(svg);
}

static void files_are_of_their_format(void **state)
{
    (void)state;
    need_gnuplot();
    size_t size;
    picture_format f;
    const picture_series s = {"", PICTURE_POINT, ROWS, NULL, middle, least, most};
    const picture p = rows_of(&s);
    char *bytes = drawn(&p, PICTURE_PNG, &size);
    assert_true(size > 1000 && memcmp(bytes, "\x89PNG\r\n", 6) == 0);
    free(bytes);
    bytes = drawn(&p, PICTURE_PDF, &size);
    assert_true(size > 1000 && memcmp(bytes, "%PDF-", 5) == 0);
    free(bytes);
    bytes = drawn(&p, PICTURE_SVG, &size);
    assert_contains(bytes, "xmlns=\"http://www.w3.org/2000/svg\"");
    assert_null(strstr(bytes, "<script"));
    free(bytes);
    assert_true(picture_format_of("a.b/use.svg", &f) && f == PICTURE_SVG);
    assert_true(picture_format_of("png", &f) && f == PICTURE_PNG);
    assert_true(picture_format_of("pdf", &f) && f == PICTURE_PDF);
    assert_false(picture_format_of("use.gif", &f) || picture_format_of("", &f));
}

static void values_of_any_size_are_drawn(void **state)
{
    (void)state;
    need_gnuplot();
    size_t size;
    static const double strange[][2] = {{NAN, NAN},    {0, 0},           {-INFINITY, INFINITY},
                                        {1e99, -1e99}, {1e-300, 2e-300}, {5, 5}};
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++)
        for (int log = 0; log < 2; log++) {
            const picture_series s = {.n = 2, .value = strange[i]};
            const picture p = {
                .id = "p", .series = &s, .n = 1, .value = {.log = log != 0}, .rule = 1};
            free(drawn(&p, PICTURE_INLINE, &size));
        }
}

static void too_much_is_refused(void **state)
{
    (void)state;
    message why = {""};
    const picture_series s = {.n = 2, .value = middle};
    picture p = {.names = names, .n_names = 3, .series = &s, .n = 1};
    assert_false(picture_draw(&p, PICTURE_SVG, stdout, &why));
    assert_contains(why.text, "3 rows has 2 values");
    p.n = 0;
    assert_false(picture_draw(&p, PICTURE_SVG, stdout, &why));
    assert_contains(why.text, "draw several");
}

static void what_a_page_may_not_hold_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "<svg>",
        "<svg viewBox=\"0 0 1 1\"",
        "<svg viewBox=\"0 0 1 1\">",
        "<svg viewBox=\"0 0 1 1\"><g></svg>",
        "<svg viewBox=\"0 0 1 1\"></g></svg>",
        "<svg viewBox=\"0 0 1 1\"><g></path></g></svg>",
        "<svg viewBox=\"0 0 1 1\"><script>alert(1)</script></svg>",
        "<svg viewBox=\"0 0 1 1\"><style>x</style></svg>",
        "<svg viewBox=\"0 0 1 1\"><image/></svg>",
        "<svg viewBox=\"0 0 1 1\"><!-- x --></svg>",
        "<svg viewBox=\"0 0 1 1\"><g onclick=\"x\"/></svg>",
        "<svg viewBox=\"0 0 1 1\"><g style=\"x\"/></svg>",
        "<svg viewBox=\"0 0 1 1\"><g fill=\"url(#x)\"/></svg>",
        "<svg viewBox=\"0 0 1 1\"><g fill='a\"b'/></svg>",
        "<svg viewBox=\"0 0 1 1\"><g id='a\"b'/></svg>",
        "<svg viewBox=\"0 0 1 1\"><use xlink:href='http://x'/></svg>",
        "<svg viewBox=\"0 0 1 1\"><use href='#x'/></svg>",
        "<svg viewBox=\"0 0 1 1\"><g fill=\"x",
        "<svg viewBox=\"0 0 1 1\"><g fill",
        "<svg viewBox=\"0 0 1 1\"><title></svg>",
    };
    FILE *out = tmpfile();
    assert_non_null(out);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        message why = {""};
        if (picture_inline(bad[i], "p", "x", out, &why) || why.text[0] == '\0')
            fail_msg("%s is taken", bad[i]);
    }
    message why = {""};
    assert_true(picture_inline("<svg viewBox=\"0 0 1 1\"><title>x</title><g fill = 'red'/></svg>",
                               "p", "x", out, &why));
    assert_int_equal(fclose(out), 0);
}

static void a_missing_gnuplot_is_told_with_a_remedy(void **state)
{
    (void)state;
    message why = {""};
    const picture_series s = {.n = 2, .value = middle};
    const picture p = {.id = "p", .series = &s, .n = 1};
    const char *path = getenv("PATH");
    char *kept = strdup(path != NULL ? path : "");
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    assert_false(picture_draw(&p, PICTURE_SVG, stdout, &why));
    assert_contains(why.text, "apt-get install gnuplot-nox");
    assert_int_equal(setenv("PATH", kept, 1), 0);
    free(kept);
}

static void what_gnuplot_refuses_is_told(void **state)
{
    (void)state;
    need_gnuplot();
    char *bytes;
    size_t size;
    message why = {""};
    assert_false(gnuplot_run("plot nonsense\n", 14, &bytes, &size, &why));
    assert_null(bytes);
    assert_contains(why.text, "did not draw");
    assert_contains(why.text, "undefined variable: nonsense");
    assert_false(gnuplot_run("\n", 1, &bytes, &size, &why));
    assert_contains(why.text, "no picture");
}

static void characters_that_cannot_be_shown_are_none(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
    } known[] = {{"a", 1},
                 {"\xc3\x9f", 2},
                 {"\xe6\x9d\xb1", 3},
                 {"\xf0\x9f\x98\x80", 4},
                 {"\n", 0},
                 {"\x7f", 0},
                 {"\xc2\x85", 0},         /* a control character */
                 {"\xc0\xaf", 0},         /* "/" in two bytes */
                 {"\xe0\x80\xaf", 0},     /* in three */
                 {"\xed\xa0\x80", 0},     /* a surrogate */
                 {"\xf4\x90\x80\x80", 0}, /* beyond the last */
                 {"\xe2\x80\xae", 0},     /* from right to left */
                 {"\xef\xbf\xbe", 0},
                 {"\xe6\x9d", 0},
                 {"\xff", 0}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (text_character(known[i].text) != known[i].size)
            fail_msg("character %zu has %zu bytes", i, text_character(known[i].text));
    assert_int_equal(text_length("a\xc3\x9f\xff"
                                 "b"),
                     3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_text_and_nothing_else),
        cmocka_unit_test(names_are_shown_as_they_are),
        cmocka_unit_test(an_element_of_a_page_has_nothing_from_outside),
        cmocka_unit_test(rows_go_down_and_values_across),
        cmocka_unit_test(files_are_of_their_format),
        cmocka_unit_test(values_of_any_size_are_drawn),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(what_a_page_may_not_hold_is_refused),
        cmocka_unit_test(a_missing_gnuplot_is_told_with_a_remedy),
        cmocka_unit_test(what_gnuplot_refuses_is_told),
        cmocka_unit_test(characters_that_cannot_be_shown_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
