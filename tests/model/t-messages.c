/* What the language says of wrong models, word by word: tests/model/messages.expected.
 *
 * Each message names the site or the call, what was found, what was expected, and a remedy.
 * Whether it does is for a reader to judge: who changes one sees the change in the golden file,
 * which
 *   TACIT_WRITE_EXPECTED=1 tests/model/t-messages
 * writes anew.  Line numbers of the caller are left out. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/model/wrong.h"

enum { ROOM = 65536, MESSAGE = 1024 };

static draft begin(void)
{
    draft d = {.m = dp_model_new()};
    d.rows = dp_unit_plate(d.m, "rows");
    d.groups = dp_plate_new(d.m, "groups", 4);
    d.x = dp_data(d.rows, "x", 3);
    d.g = dp_index(d.rows, "g", d.groups);
    d.w = dp_sample(d.m, "w", 3, dp_normal(0, 1));
    d.s = dp_sample(d.m, "s", 1, dp_half_normal(1));
    d.a = dp_sample_in(d.groups, "a", 1, dp_normal(0, 1));
    return d;
}

/* Copies a message with `by` for its first "<folders><file>:<line>"; false where there is none. */
static bool replace(const char *message, const char *file, const char *by, char out[MESSAGE])
{
    const char *at = strstr(message, file), *begin = at;
    if (at == NULL) {
        (void)snprintf(out, MESSAGE, "%s", message);
        return false;
    }
    while (begin > message && begin[-1] != ' ' && begin[-1] != '(')
        begin--;
    at += strlen(file) + 1;
    at += strspn(at, "0123456789");
    (void)snprintf(out, MESSAGE, "%.*s%s%s", (int)(begin - message), message, by, at);
    return true;
}

/* All messages of a table in its order, behind what is used of the text. */
static void write_table(const wrong_model *models, size_t n, char *text, size_t *used)
{
    const char *file = models == wrong_models ? "wrong.c" : "wrong-distributions.c";
    for (size_t k = 0; k < n; k++) {
        draft d = begin();
        char once[MESSAGE], twice[MESSAGE], message[MESSAGE];
        assert_int_equal(dp_model_status(d.m), DP_OK);
        models[k].write(&d);
        if (dp_model_error(d.m) == NULL)
            fail_msg("%s: no error", models[k].what);
        bool here = replace(dp_model_error(d.m), file, "model.c", once);
        bool above = replace(once, "t-messages.c", "model.c, above", twice);
        if (!here && !above)
            fail_msg("%s: no place: %s", models[k].what, twice);
        (void)replace(twice, file, "model.c", message);
        *used +=
            (size_t)snprintf(text + *used, ROOM - *used, "%s\n    %s\n", models[k].what, message);
        assert_true(*used < ROOM);
        dp_model_free(d.m);
    }
}

static void write_all(char *text)
{
    size_t used = 0;
    write_table(wrong_models, n_wrong_models, text, &used);
    write_table(wrong_distributions, n_wrong_distributions, text, &used);
}

static void messages_are_those_of_the_golden_file(void **state)
{
    (void)state;
    static char found[ROOM], wanted[ROOM];
    char path[1024];
    const char *folder = getenv("top_srcdir");
    (void)snprintf(path, sizeof path, "%s/tests/model/messages.expected",
                   folder != NULL ? folder : ".");
    write_all(found);
    if (getenv("TACIT_WRITE_EXPECTED") != NULL) {
        FILE *to = fopen(path, "w");
        assert_non_null(to);
        assert_true(fputs(found, to) >= 0);
        assert_int_equal(fclose(to), 0);
    }
    FILE *from = fopen(path, "r");
    assert_non_null(from);
    size_t n = fread(wanted, 1, ROOM - 1, from);
    wanted[n] = 0;
    assert_int_equal(fclose(from), 0);
    assert_string_equal(found, wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_those_of_the_golden_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
