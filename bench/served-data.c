/* Public data sets, standardised by public constants: a number v of a column with range [low, high]
 * becomes 6 (v - low) / (high - low) - below, cut to -below ... 6 - below.  Ranges are those of the
 * data sets' own descriptions, or what is possible of the thing measured. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/images.h"
#include "options.h"
#include "served.h"
#include "women.h"

enum { MOST_FIELDS = 40, PATH = 1000, FOLDS = 5, WIDTH = 6 };

void *served_room(size_t n, size_t size)
{
    void *made = calloc(n > 0 ? n : 1, size);
    if (made == NULL)
        bench_stop("memory", "none left");
    return made;
}

void served_must(dp_status status, const char *what, const dp_error *err)
{
    if (status != DP_OK)
        bench_stop(what, err->text);
}

/* ---- a record of a table ---- */

/* What makes x and the label of the fields of a line; false where it is left out. */
typedef bool coder(const double *field, double *x, int32_t *label);

static double standard(double v, double low, double high, double below)
{
    const double x = WIDTH * (v - low) / (high - low) - below;
    return x < -below ? -below : x > WIDTH - below ? WIDTH - below : x;
}

/* Wisconsin breast cancer: the ranges of the UCI repository's summary of the 30 columns, as
 * scikit-learn's description of the set quotes it.  Most are skewed: below is 2. */
static bool code_breast(const double *field, double *x, int32_t *label)
{
    static const double range[30][2] = {
        {6.981, 28.11}, {9.71, 39.28},  {43.79, 188.5}, {143.5, 2501},  {.053, .163},
        {.019, .345},   {0, .427},      {0, .201},      {.106, .304},   {.05, .097},
        {.112, 2.873},  {.36, 4.885},   {.757, 21.98},  {6.802, 542.2}, {.002, .031},
        {.002, .135},   {0, .396},      {0, .053},      {.008, .079},   {.001, .03},
        {7.93, 36.04},  {12.02, 49.54}, {50.41, 251.2}, {185.2, 4254},  {.071, .223},
        {.027, 1.058},  {0, 1.252},     {0, .291},      {.156, .664},   {.055, .208}};
    for (int j = 0; j < 30; j++)
        x[j] = standard(field[j], range[j][0], range[j][1], 2);
    *label = (int32_t)field[30];
    return true;
}

/* Heart disease, Cleveland: 13 columns, of which chest pain, electrocardiogram, slope and thallium
 * scan are kinds and become indicators; the label is whether there is any disease. */
static bool code_heart(const double *field, double *x, int32_t *label)
{
    static const struct {
        int from;
        double low, high;
    } numbers[] = {{0, 20, 80},  {1, 0, 1}, {3, 80, 200}, {4, 100, 600}, {5, 0, 1},
                   {7, 60, 210}, {8, 0, 1}, {9, 0, 6},    {11, 0, 3}};
    static const struct {
        int from;
        double kind;
    } kinds[] = {{2, 2}, {2, 3}, {2, 4}, {6, 1}, {6, 2}, {10, 2}, {10, 3}, {12, 6}, {12, 7}};
    for (int j = 0; j < 9; j++)
        x[j] = standard(field[numbers[j].from], numbers[j].low, numbers[j].high, 3);
    for (int j = 0; j < 9; j++)
        x[9 + j] = field[kinds[j].from] == kinds[j].kind;
    *label = field[13] > 0;
    return true;
}

/* Cardiovascular disease.  Records whose pressures or sizes no living adult has are left out: a
 * rule that is public and speaks of one record at a time. */
static bool code_cardio(const double *field, double *x, int32_t *label)
{
    const double *f = field + 1; /* the first is a record's number */
    if (f[4] < 60 || f[4] > 250 || f[5] < 30 || f[5] > 160 || f[5] >= f[4] || f[2] < 120 ||
        f[2] > 220 || f[3] < 30 || f[3] > 200)
        return false;
    static const double range[11][2] = {{10950, 25550}, {1, 2},    {120, 220}, {30, 200},
                                        {60, 250},      {30, 160}, {1, 3},     {1, 3},
                                        {0, 1},         {0, 1},    {0, 1}};
    for (int j = 0; j < 11; j++)
        x[j] = standard(f[j], range[j][0], range[j][1], 3);
    *label = (int32_t)f[11];
    return true;
}

typedef struct table {
    const char *name, *file;
    char separator;
    size_t fields, inputs;
    double low, high;
    coder *code;
} table;

static const table tables[] = {
    {"breast", "wdbc/wdbc.csv", ',', 31, 30, -2, 4, code_breast},
    {"heart", "heart/processed.cleveland.data", ',', 14, 18, -3, 3, code_heart},
    {"cardio", "cardio/cardio_train.csv.gz", ';', 13, 11, -3, 3, code_cardio}};

/* ---- records ---- */

static void make_set(served_data *d, served_set *s, size_t n)
{
    s->n = n;
    s->x = served_room(n * d->inputs, sizeof *s->x);
    s->outcome = served_room(n, sizeof *s->outcome);
    s->label = served_room(n, sizeof *s->label);
    s->group = served_room(n, sizeof *s->group);
}

/* The columns of records that are complete. */
static void finish_set(served_data *d, served_set *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->outcome[i] = s->label[i];
    s->numbers = dp_dataset_new(s->n);
    s->classes = dp_dataset_new(s->n);
    dp_dataset *both[] = {s->numbers, s->classes};
    for (int k = 0; k < 2; k++) {
        dp_dataset_real(both[k], "x", d->inputs, s->x);
        if (d->groups > 0)
            dp_dataset_index(both[k], "group", s->group);
    }
    dp_dataset_real(s->numbers, "y", 1, s->outcome);
    dp_dataset_index(s->classes, "y", s->label);
}

/* Records for testing before record i. */
static size_t tests_before(const served_data *d, size_t i)
{
    return i / FOLDS + (i % FOLDS > d->fold);
}

/* Where record i of a table goes, and how many are there before it. */
static served_set *place_of(served_data *d, size_t i, size_t *at)
{
    const bool test = i % FOLDS == d->fold;
    *at = test ? tests_before(d, i) : i - tests_before(d, i);
    return test ? &d->test : &d->train;
}

static void split(served_data *d, size_t n)
{
    make_set(d, &d->test, tests_before(d, n));
    make_set(d, &d->train, n - tests_before(d, n));
}

/* The numbers of a line; false where there are not so many, as in a header or with a "?". */
static bool read_fields(const char *line, char separator, size_t n, double *field)
{
    for (size_t k = 0; k < n; k++) {
        char *end;
        field[k] = strtod(line, &end);
        if (end == line || (k + 1 < n && *end != separator))
            return false;
        line = end + 1;
    }
    return true;
}

/* A file as it is, or unpacked. */
static FILE *open_text(const char *folder, const char *name, bool *packed)
{
    char path[PATH + 20], whole[PATH];
    (void)snprintf(whole, sizeof whole, "%s/%s", folder, name);
    (void)snprintf(path, sizeof path, "gzip -dc '%s'", whole);
    *packed = strstr(name, ".gz") != NULL;
    FILE *in = *packed ? popen(path, "r") : fopen(whole, "r");
    if (in == NULL)
        bench_stop(whole, "cannot be read");
    return in;
}

static void read_table(const char *folder, const table *t, served_data *d)
{
    enum { LINE = 4096, MOST = 100000 };
    static char line[LINE];
    double field[MOST_FIELDS], *x = served_room(MOST * t->inputs, sizeof *x);
    int32_t *label = served_room(MOST, sizeof *label);
    size_t n = 0, at;
    bool packed;
    FILE *in = open_text(folder, t->file, &packed);
    while (n < MOST && fgets(line, LINE, in) != NULL)
        if (read_fields(line, t->separator, t->fields, field))
            n += t->code(field, x + n * t->inputs, &label[n]);
    (void)(packed ? pclose(in) : fclose(in));
    if (n == 0)
        bench_stop(t->file, "has no records");
    *d = (served_data){
        .inputs = t->inputs, .classes = 2, .low = t->low, .high = t->high, .fold = d->fold};
    split(d, n);
    for (size_t i = 0; i < n; i++) {
        served_set *s = place_of(d, i, &at);
        memcpy(s->x + at * d->inputs, x + i * d->inputs, d->inputs * sizeof *x);
        s->label[at] = label[i];
    }
    free(x);
    free(label);
}

static void read_women(const char *folder, served_data *d)
{
    char path[PATH];
    women w;
    size_t at;
    dp_error err = {0};
    (void)snprintf(path, sizeof path, "%s/bangladesh/Contraception.csv", folder);
    served_must(women_read(path, &w, &err), path, &err);
    *d = (served_data){.inputs = WOMEN_D - 1,
                       .classes = 2,
                       .groups = WOMEN_DISTRICTS,
                       .low = -1,
                       .high = 1,
                       .fold = d->fold};
    split(d, w.n);
    for (size_t i = 0; i < w.n; i++) {
        served_set *s = place_of(d, i, &at);
        memcpy(s->x + at * d->inputs, w.x + i * WOMEN_D + 1, d->inputs * sizeof *w.x);
        s->label[at] = w.use[i] > 0;
        s->group[at] = w.district[i];
    }
    women_free(&w);
}

static void read_digits(const char *folder, served_data *d)
{
    char path[PATH];
    images m;
    dp_error err = {0};
    (void)snprintf(path, sizeof path, "%s/mnist", folder);
    served_must(images_read(path, true, &m, &err), path, &err);
    *d = (served_data){.inputs = m.pixels, .classes = 10, .low = 0, .high = 1};
    make_set(d, &d->train, m.n);
    make_set(d, &d->test, m.n_test);
    for (size_t i = 0; i < m.n * m.pixels; i++)
        d->train.x[i] = m.train[i] / 255.0;
    for (size_t i = 0; i < m.n_test * m.pixels; i++)
        d->test.x[i] = m.test[i] / 255.0;
    memcpy(d->train.label, m.labels, m.n * sizeof *m.labels);
    memcpy(d->test.label, m.test_labels, m.n_test * sizeof *m.labels);
    images_free(&m);
}

void served_read(const char *folder, const char *name, uint64_t fold, served_data *d)
{
    const size_t n = sizeof tables / sizeof *tables;
    size_t k = 0;
    if (fold >= FOLDS)
        bench_stop("--fold", "is 0 to 4");
    d->fold = fold;
    while (k < n && strcmp(name, tables[k].name) != 0)
        k++;
    if (k < n)
        read_table(folder, &tables[k], d);
    else if (strcmp(name, "mnist") == 0)
        read_digits(folder, d);
    else
        read_women(folder, d);
    finish_set(d, &d->train);
    finish_set(d, &d->test);
}

static void free_set(served_set *s)
{
    dp_dataset_free(s->numbers);
    dp_dataset_free(s->classes);
    free(s->x);
    free(s->outcome);
    free(s->label);
    free(s->group);
}

void served_free(served_data *d)
{
    free_set(&d->train);
    free_set(&d->test);
    *d = (served_data){0};
}
