/* Which data sets are recognised as others that have a budget, and which are not. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tacit/ledger.h>
#include <tacit/random.h>

#include "tests/graph/faulty.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

enum { N = 400, MOST = 2000, COLUMNS = 6 };

/* A survey: columns 0, 1 are measurements, 2 ages, 3 and 4 answers of two kinds, 5 numbers of
 * rows. */
typedef struct survey {
    size_t n;
    double real[COLUMNS][MOST];
    int32_t index[COLUMNS][MOST];
    unsigned char bytes[COLUMNS][MOST];
} survey;

enum { MEASURED = 0, ALSO_MEASURED = 1, AGE = 2, ANSWER = 3, OTHER_ANSWER = 4, ROW = 5 };

static survey first, second;

static double uniform(dp_rng *rng)
{
    double u;
    dp_rng_uniform(rng, 1, &u);
    return u;
}

static void copy_kinds(survey *s)
{
    for (int c = 0; c < COLUMNS; c++)
        for (size_t i = 0; i < s->n; i++) {
            s->index[c][i] = (int32_t)s->real[c][i];
            s->bytes[c][i] = (unsigned char)s->real[c][i];
        }
}

static void fill(survey *s, size_t n, uint64_t seed)
{
    dp_rng *rng;
    assert_ok(dp_rng_new(seed, &rng, NULL), NULL);
    s->n = n;
    for (size_t i = 0; i < n; i++) {
        dp_rng_normal(rng, 1, &s->real[MEASURED][i]);
        s->real[ALSO_MEASURED][i] = floor(1e5 * uniform(rng)) / 100;
        s->real[AGE][i] = 18 + floor(70 * uniform(rng));
        s->real[ANSWER][i] = uniform(rng) < 0.3;
        s->real[OTHER_ANSWER][i] = floor(5 * uniform(rng));
        s->real[ROW][i] = (double)i + 1;
    }
    copy_kinds(s);
    dp_rng_free(rng);
}

/* Records first + step * i of another. */
static void take(survey *to, const survey *from, size_t n, size_t start, size_t step)
{
    to->n = n;
    for (int c = 0; c < COLUMNS; c++)
        for (size_t i = 0; i < n; i++)
            to->real[c][i] = from->real[c][(start + step * i) % from->n];
    copy_kinds(to);
}

/* A data set with these columns, named by their place. */
static dp_dataset *of(const survey *s, const int *columns, size_t n, const char *prefix)
{
    dp_dataset *data = dp_dataset_new(s->n);
    for (size_t k = 0; k < n; k++) {
        char name[16];
        (void)snprintf(name, sizeof name, "%s%zu", prefix, k);
        dp_dataset_real(data, name, 1, s->real[columns[k]]);
    }
    return data;
}

static dp_status add(dp_ledger *ledger, const char *name, dp_dataset *data, bool allowed,
                     dp_error *err)
{
    const dp_ledger_source source = {.records = data, .overlap_allowed = allowed};
    const dp_budget budget = {.epsilon = 2, .delta = 1e-6, .adjacency = DP_ADD_REMOVE};
    dp_status status = dp_ledger_add_data(ledger, name, &source, &budget, err);
    dp_dataset_free(data);
    return status;
}

static const int all[] = {0, 1, 2, 3, 4, 5}, plain[] = {0, 1, 2, 3, 4},
                 rotated[] = {3, 4, 5, 0, 1, 2};

/* A ledger in which the first survey is "survey". */
static dp_ledger *set_up(size_t n)
{
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(2);
    fill(&first, n, 11);
    assert_ok(add(ledger, "survey", of(&first, all, COLUMNS, "x"), false, &err), err.text);
    return ledger;
}

static void refuses(dp_ledger *ledger, dp_dataset *data)
{
    dp_error err = {0};
    assert_fails(add(ledger, "again", data, false, &err), DP_EPRIVACY, &err, "'survey'");
}

static void allowed_is(dp_ledger *ledger, size_t k, bool allowed)
{
    dp_error err = {0};
    const dp_ledger_statement *s;
    assert_ok(dp_ledger_read(ledger, &s, &err), err.text);
    assert_true(k < s->n && s->data[k].overlap_allowed == allowed);
    dp_ledger_statement_free(s);
}

/* In the order d, survey, again. */
static void what_was_allowed_stays_on_the_statement(void **state)
{
    (void)state;
    dp_error err = {0};
    size_t faults;
    dp_ledger *ledger = set_up(N);
    assert_ok(add(ledger, "again", of(&first, rotated, COLUMNS, "y"), true, &err), err.text);
    allowed_is(ledger, 1, false);
    allowed_is(ledger, 2, true);
    dp_dataset *data = of(&first, all, COLUMNS, "z");
    const dp_ledger_source meant = {.records = data, .overlap_allowed = true};
    assert_ok(dp_ledger_update_data(ledger, "survey", &meant, &err), err.text);
    allowed_is(ledger, 1, true);
    dp_dataset_free(data);
    fill(&second, N, 12);
    data = of(&second, all, COLUMNS, "x");
    const dp_ledger_source other = {.records = data};
    assert_ok(dp_ledger_update_data(ledger, "survey", &other, &err), err.text);
    allowed_is(ledger, 1, true);
    dp_dataset_free(data);
    folder_sql("UPDATE data SET overlap = 0 WHERE id = 3");
    assert_ok(dp_ledger_check(ledger, NULL, &faults, &err), err.text);
    assert_int_equal(faults, 1);
    dp_ledger_close(ledger);
}

static void names_and_orders_do_not_matter(void **state)
{
    (void)state;
    dp_ledger *ledger = set_up(N);
    refuses(ledger, of(&first, all, COLUMNS, "y"));
    refuses(ledger, of(&first, rotated, COLUMNS, "x"));
    refuses(ledger, of(&first, rotated, COLUMNS, "y"));
    take(&second, &first, N, 17, 3); /* every record, from another one on */
    refuses(ledger, of(&second, all, COLUMNS, "x"));
    refuses(ledger, of(&second, rotated, COLUMNS, "y"));
    dp_ledger_close(ledger);
}

static void kinds_do_not_matter(void **state)
{
    (void)state;
    dp_ledger *ledger = set_up(N);
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "a", 1, first.real[MEASURED]);
    dp_dataset_index(data, "b", first.index[AGE]);
    dp_dataset_bytes(data, "c", 1, 1, first.bytes[ANSWER]);
    dp_dataset_index(data, "d", first.index[OTHER_ANSWER]);
    dp_dataset_real(data, "e", 1, first.real[ALSO_MEASURED]);
    refuses(ledger, data);
    dp_ledger_close(ledger);
}

/* Nothing but whole numbers, few of each, so that no column is enough. */
static void records_of_few_values_are_recognised_as_a_whole(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(2);
    fill(&first, N, 11);
    for (int i = 0; i < N; i++)
        first.real[AGE][i] = first.index[AGE][i] = 20 + (first.index[AGE][i] - 18) / 10;
    dp_dataset *data = of(&first, (const int[]){AGE, ANSWER, OTHER_ANSWER}, 3, "x");
    assert_ok(add(ledger, "survey", data, false, &err), err.text);
    data = dp_dataset_new(N);
    dp_dataset_bytes(data, "p", 1, 1, first.bytes[ANSWER]);
    dp_dataset_index(data, "q", first.index[AGE]);
    dp_dataset_index(data, "r", first.index[OTHER_ANSWER]);
    refuses(ledger, data);
    data = dp_dataset_new(N);
    fill(&second, N, 12);
    dp_dataset_bytes(data, "p", 1, 1, second.bytes[ANSWER]);
    dp_dataset_index(data, "q", first.index[AGE]);
    dp_dataset_index(data, "r", first.index[OTHER_ANSWER]);
    assert_ok(add(ledger, "others", data, false, &err), err.text);
    dp_ledger_close(ledger);
}

static void parts_are_recognised(void **state)
{
    (void)state;
    dp_ledger *ledger = set_up(MOST);
    const struct {
        size_t n, start, step;
    } parts[] = {{MOST / 2, 0, 2}, {MOST / 2, 0, 1}, {MOST / 2, MOST / 2, 1}, {MOST / 20, 40, 1}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        take(&second, &first, parts[i].n, parts[i].start, parts[i].step);
        refuses(ledger, of(&second, rotated, COLUMNS, "y"));
    }
    /* A twentieth of other people's records. */
    fill(&second, MOST, 12);
    for (int c = 0; c < COLUMNS; c++)
        memcpy(second.real[c], first.real[c], MOST / 20 * sizeof(double));
    refuses(ledger, of(&second, all, COLUMNS, "y"));
    dp_ledger_close(ledger);
}

static void a_part_that_was_first_has_the_budget_of_the_whole(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(2);
    fill(&first, MOST, 11);
    take(&second, &first, MOST / 2, 0, 2);
    assert_ok(add(ledger, "survey", of(&second, all, COLUMNS, "x"), false, &err), err.text);
    refuses(ledger, of(&first, rotated, COLUMNS, "y"));
    take(&second, &first, MOST / 2, 1, 2); /* other people of the same population */
    assert_ok(add(ledger, "rest", of(&second, all, COLUMNS, "x"), false, &err), err.text);
    dp_ledger_close(ledger);
}

static void a_column_beside_new_ones_is_recognised(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = set_up(N);
    fill(&second, N, 13);
    for (int c = MEASURED; c <= ALSO_MEASURED; c++) {
        dp_dataset *data = dp_dataset_new(N);
        dp_dataset_real(data, "new", 1, second.real[MEASURED]);
        dp_dataset_real(data, "old", 1, first.real[c]);
        refuses(ledger, data);
    }
    /* Ages are, when there are all of them in their numbers; of a part everybody has the like. */
    dp_dataset *ages = dp_dataset_new(N);
    dp_dataset_real(ages, "new", 1, second.real[MEASURED]);
    dp_dataset_index(ages, "old", first.index[AGE]);
    refuses(ledger, ages);
    ages = dp_dataset_new(N / 2);
    dp_dataset_real(ages, "new", 1, second.real[MEASURED]);
    dp_dataset_index(ages, "old", first.index[AGE]);
    assert_ok(add(ledger, "ages", ages, false, &err), err.text);
    /* Answers and numbers of rows are nobody's. */
    for (int c = ANSWER; c < COLUMNS; c++) {
        char name[16];
        dp_dataset *data = dp_dataset_new(N);
        (void)snprintf(name, sizeof name, "with %d", c);
        fill(&second, N, 20 + (uint64_t)c);
        dp_dataset_real(data, "new", 1, second.real[MEASURED]);
        dp_dataset_real(data, "old", 1, first.real[c]);
        assert_ok(add(ledger, name, data, false, &err), err.text);
    }
    dp_ledger_close(ledger);
}

/* The numbers of an image are too many to be columns; as a block they are recognised. */
static void blocks_are_recognised_as_a_whole(void **state)
{
    (void)state;
    enum { PIXELS = 100, IMAGES = 150 };
    static unsigned char pixels[IMAGES * PIXELS];
    static double grey[IMAGES * PIXELS];
    dp_error err = {0};
    dp_rng *rng;
    dp_ledger *ledger = folder_ledger(2);
    assert_ok(dp_rng_new(3, &rng, NULL), NULL);
    for (size_t i = 0; i < sizeof pixels; i++) {
        pixels[i] = (unsigned char)(uniform(rng) < 0.7 ? 0 : 255 * uniform(rng));
        grey[i] = pixels[i] / 255.0;
    }
    dp_rng_free(rng);
    fill(&first, IMAGES, 5);
    dp_dataset *data = dp_dataset_new(IMAGES);
    dp_dataset_bytes(data, "image", PIXELS, 255, pixels);
    dp_dataset_index(data, "label", first.index[OTHER_ANSWER]);
    assert_ok(add(ledger, "survey", data, false, &err), err.text);
    data = dp_dataset_new(IMAGES);
    dp_dataset_real(data, "x", PIXELS, grey);
    refuses(ledger, data);
    data = dp_dataset_new(IMAGES);
    dp_dataset_index(data, "new", first.index[ANSWER]);
    dp_dataset_real(data, "x", PIXELS, grey);
    refuses(ledger, data);
    dp_ledger_close(ledger);
}

static void write_survey(const char *name, const survey *s, const char *header, const int *columns)
{
    FILE *file = fopen(folder_path(name), "wb");
    assert_non_null(file);
    (void)fprintf(file, "%s\n", header);
    for (size_t i = 0; i < s->n; i++)
        for (int k = 0; k < 5; k++)
            (void)fprintf(file, "%.17g%s", s->real[columns[k]][i], k < 4 ? "," : "\r\n");
    assert_int_equal(fclose(file), 0);
}

static dp_status add_file(dp_ledger *ledger, const char *name, const char *file, dp_error *err)
{
    const dp_ledger_source source = {.path = folder_path(file)};
    const dp_budget budget = {.epsilon = 2, .delta = 1e-6, .adjacency = DP_ADD_REMOVE};
    return dp_ledger_add_data(ledger, name, &source, &budget, err);
}

static void files_are_read_as_the_numbers_in_them(void **state)
{
    (void)state;
    dp_error err = {0};
    static const int other_order[] = {4, 0, 3, 1, 2};
    dp_ledger *ledger = folder_ledger(2);
    fill(&first, N, 11);
    write_survey("one.csv", &first, "a,b,c,d,e", plain);
    assert_ok(add_file(ledger, "survey", "one.csv", &err), err.text);
    write_survey("two.csv", &first, "v,\"w\",x,y,z", other_order);
    assert_fails(add_file(ledger, "again", "two.csv", &err), DP_EPRIVACY, &err, "'survey'");
    take(&second, &first, N / 2, 3, 2);
    write_survey("two.csv", &second, "a,b,c,d,e", plain);
    assert_fails(add_file(ledger, "again", "two.csv", &err), DP_EPRIVACY, &err, "'survey'");
    refuses(ledger, of(&first, plain, 5, "x")); /* as columns in memory, too */
    fill(&second, N, 14);
    write_survey("two.csv", &second, "a,b,c,d,e", plain);
    assert_ok(add_file(ledger, "others", "two.csv", &err), err.text);
    /* A few records are told by being the same in all. */
    folder_write("three.csv", "x;y\n1;2\n3;4\n");
    folder_write("four.csv", "a,b\n4,3.0\n2,1\n");
    folder_write("five.csv", "a,b\n4,3.0\n2,7\n");
    assert_ok(add_file(ledger, "small", "three.csv", &err), err.text);
    assert_fails(add_file(ledger, "again", "four.csv", &err), DP_EPRIVACY, &err, "'small'");
    assert_ok(add_file(ledger, "not small", "five.csv", &err), err.text);
    dp_ledger_close(ledger);
}

static void what_is_meant_is_allowed(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = set_up(N);
    assert_fails(add(ledger, "again", of(&first, all, COLUMNS, "y"), false, &err), DP_EPRIVACY,
                 &err, "--overlap-allowed");
    assert_ok(add(ledger, "again", of(&first, all, COLUMNS, "y"), true, &err), err.text);
    /* The very same columns never are. */
    assert_fails(add(ledger, "same", of(&first, all, COLUMNS, "x"), true, &err), DP_ENAME, &err,
                 "'survey'");
    dp_ledger_close(ledger);
}

/* What a data set was before it was corrected has its budget, too. */
static void updated_data_are_known_by_what_they_were(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_ledger *ledger = set_up(N);
    fill(&second, N, 15);
    dp_dataset *data = of(&second, all, COLUMNS, "x");
    const dp_ledger_source source = {.records = data};
    assert_ok(dp_ledger_update_data(ledger, "survey", &source, &err), err.text);
    dp_dataset_free(data);
    refuses(ledger, of(&first, all, COLUMNS, "y"));
    refuses(ledger, of(&second, all, COLUMNS, "y"));
    dp_ledger_close(ledger);
}

/* Constants, answers and rows' numbers are the same in all. */
static void data_of_other_people_are_accepted(void **state)
{
    (void)state;
    enum { SETS = 24 };
    dp_error err = {0};
    dp_ledger *ledger = folder_ledger(2);
    static double constant[MOST];
    const size_t sizes[] = {20, 100, 400, MOST};
    for (int i = 0; i < SETS; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "set %d", i);
        fill(&first, sizes[i % 4], 100 + (uint64_t)i);
        dp_dataset *data = of(&first, all + (i / 4 % 3), (size_t)(COLUMNS - i / 4 % 3), "x");
        dp_dataset_real(data, "constant", 1, constant);
        assert_ok(add(ledger, name, data, false, &err), err.text);
    }
    dp_ledger_close(ledger);
}

/* Two experiments with the same doses, and days in sequence. */
static void lists_are_nobodys(void **state)
{
    (void)state;
    dp_error err = {0};
    static double dose[N], day[N], number[N];
    dp_ledger *ledger = folder_ledger(2);
    for (int k = 0; k < 2; k++) {
        fill(&first, N, 30 + (uint64_t)k);
        for (int i = 0; i < N; i++) {
            dose[i] = (i % 40) / 3.0;
            day[i] = 1000 + i / 7.0;
            number[i] = 5000 + (i * 7 + 3 * k) % N;
        }
        dp_dataset *data = dp_dataset_new(N);
        dp_dataset_real(data, "dose", 1, dose);
        dp_dataset_real(data, "day", 1, day);
        dp_dataset_real(data, "number", 1, number);
        dp_dataset_index(data, "answer", first.index[ANSWER]);
        assert_ok(add(ledger, k == 0 ? "one" : "two", data, false, &err), err.text);
    }
    dp_ledger_close(ledger);
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    size_t k = 0;
    bool failed;
    dp_ledger *ledger = set_up(N);
    fill(&second, N, 40);
    write_survey("two.csv", &second, "a,b,c,d,e", plain);
    do {
        dp_error err = {0};
        size_t live = faulty_live();
        faulty_fail(++k);
        dp_status status = add_file(ledger, "others", "two.csv", &err);
        failed = faulty_failed() != 0;
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_int_equal(faulty_live(), live);
    } while (failed && k < 1000);
    assert_true(k > 10 && k < 1000);
    dp_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_allowed_stays_on_the_statement),
        cmocka_unit_test(names_and_orders_do_not_matter),
        cmocka_unit_test(kinds_do_not_matter),
        cmocka_unit_test(records_of_few_values_are_recognised_as_a_whole),
        cmocka_unit_test(parts_are_recognised),
        cmocka_unit_test(a_part_that_was_first_has_the_budget_of_the_whole),
        cmocka_unit_test(a_column_beside_new_ones_is_recognised),
        cmocka_unit_test(blocks_are_recognised_as_a_whole),
        cmocka_unit_test(files_are_read_as_the_numbers_in_them),
        cmocka_unit_test(what_is_meant_is_allowed),
        cmocka_unit_test(updated_data_are_known_by_what_they_were),
        cmocka_unit_test(data_of_other_people_are_accepted),
        cmocka_unit_test(lists_are_nobodys),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests_name("overlap", tests, folder_make, folder_remove);
}
