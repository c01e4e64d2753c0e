#include "tests/formula/data-sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define REAL(of, from, to)                                                                         \
    {                                                                                              \
        .name = of, .kind = DP_COLUMN_REAL, .low = from, .high = to                                \
    }
#define INTEGER(of, from, to)                                                                      \
    {                                                                                              \
        .name = of, .kind = DP_COLUMN_INTEGER, .low = from, .high = to                             \
    }
#define LEVEL(of, list)                                                                            \
    {                                                                                              \
        .name = of, .kind = DP_COLUMN_LEVEL, .levels = list,                                       \
        .n_levels = sizeof list / sizeof list[0]                                                   \
    }

static const char *const no_yes[] = {"N", "Y"}, *const children[] = {"0", "1", "2", "3+"},
                         *const incomes[] = {"<=50K", ">50K"}, *const sexes[] = {"Female", "Male"},
                         *const races[] = {"Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black",
                                           "Other", "White"},
                         *const species[] = {"setosa", "versicolor", "virginica"},
                         *const letters[] = {"a", "b", "c"};

static const dp_column contraception[] = {LEVEL("y", no_yes), LEVEL("livch", children),
                                          REAL("age", -15, 20), LEVEL("urban", no_yes),
                                          INTEGER("district", 1, 61)};
static const dp_column radon[] = {INTEGER("floor", 0, 1), REAL("log_radon", -3, 4),
                                  REAL("log_uranium", -1, 1), INTEGER("county", 1, 85)};
static const dp_column faithful[] = {REAL("eruptions", 1, 6), REAL("waiting", 30, 110)};
static const dp_column iris[] = {REAL("sepal_length", 4, 8), REAL("sepal_width", 2, 5),
                                 REAL("petal_length", 0, 8), LEVEL("species", species)};
static const dp_column wdbc[] = {REAL("mean_radius", 5, 30), REAL("mean_texture", 5, 45),
                                 INTEGER("target", 0, 1)};
static const dp_column heart[] = {REAL("age", 20, 80), INTEGER("sex", 0, 1), INTEGER("cp", 0, 3),
                                  INTEGER("ca", 0, 4)};
static const dp_column pima[] = {INTEGER("pregnancies", 0, 20), REAL("bmi", 0, 70),
                                 REAL("age", 20, 90)};
static const dp_column cardio[] = {REAL("age", 10000, 25000), INTEGER("gender", 1, 2),
                                   REAL("weight", 10, 200), INTEGER("cholesterol", 1, 3),
                                   INTEGER("cardio", 0, 1)};
static const dp_column adult[] = {REAL("age", 16, 90),   INTEGER("education_num", 1, 16),
                                  LEVEL("race", races),  LEVEL("sex", sexes),
                                  REAL("hours", 0, 100), LEVEL("y", incomes)};
static const dp_column simulated[] = {
    REAL("x", -1, 1),         REAL("z", -3, 3),          INTEGER("g", 1, 20),
    INTEGER("h", 1, 4),       LEVEL("f", letters),       REAL("normal", -5, 6),
    REAL("crossed", -5, 6),   INTEGER("trials", 1, 10),  INTEGER("successes", 0, 10),
    INTEGER("count", 0, 30),  INTEGER("zeros", 0, 20),   REAL("exposure", .5, 2.5),
    INTEGER("events", 0, 30), REAL("positive", 0, 20),   REAL("share", 0, 1),
    REAL("time", 0, 4),       INTEGER("censored", 0, 1), INTEGER("grade", 1, 4),
    INTEGER("weight", 1, 3),  REAL("spread", -5, 6)};

#define SCHEMA(list) list, sizeof list / sizeof list[0]
static const data_set sets[] = {
    {"contraception", "bangladesh/Contraception.csv", "rownames,woman,district,y,livch,age,urban",
     true, ',', SCHEMA(contraception)},
    {"radon", "radon/mn_radon.csv", "floor,county_name,log_radon,log_uranium,county", true, ',',
     SCHEMA(radon)},
    {"faithful", "faithful/faithful.csv", "rownames,eruptions,waiting", true, ',',
     SCHEMA(faithful)},
    {"iris", "iris/iris.csv", "sepal_length,sepal_width,petal_length,petal_width,species", true,
     ',', SCHEMA(iris)},
    {"wdbc", "wdbc/wdbc.csv", NULL, true, ',', SCHEMA(wdbc)},
    {"heart", "heart/heart.csv", NULL, true, ',', SCHEMA(heart)},
    {"pima", "pima/pima-indians-diabetes.csv",
     "pregnancies,glucose,pressure,skin,insulin,bmi,pedigree,age,outcome", false, ',',
     SCHEMA(pima)},
    {"cardio", "cardio/cardio_train.csv.gz", NULL, true, ';', SCHEMA(cardio)},
    {"adult", "adult/adult.data.gz",
     "age,workclass,fnlwgt,education,education_num,marital,occupation,relationship,race,sex,gain,"
     "loss,hours,country,y",
     false, ',', SCHEMA(adult)},
    {"simulated", NULL, NULL, true, ',', SCHEMA(simulated)},
};

const data_set *data_set_named(const char *name)
{
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        if (strcmp(sets[i].name, name) == 0)
            return &sets[i];
    return NULL;
}

static gzFile open_data_set(const data_set *of, const char *folder, const char *source)
{
    char path[4096];
    if (of->file == NULL)
        (void)snprintf(path, sizeof path, "%s/tests/formula/simulated.csv", source);
    else
        (void)snprintf(path, sizeof path, "%s/%s", folder, of->file);
    return gzopen(path, "rb");
}

/* The text, with another first line, and without the blanks that some files have behind commas.
 * NULL where memory is out. */
static char *read_text(const data_set *of, gzFile file)
{
    size_t n = 0, room = 1 << 16;
    char *text = malloc(room);
    bool skip = of->headed && of->header != NULL;
    if (text != NULL && of->header != NULL)
        n = (size_t)sprintf(text, "%s\n", of->header);
    for (int c = gzgetc(file), before = 0; text != NULL && c != EOF; before = c, c = gzgetc(file)) {
        if (n + 1 == room) {
            char *larger = realloc(text, room *= 2);
            if (larger == NULL)
                free(text);
            text = larger;
        }
        if (text != NULL && !skip && !(c == ' ' && before == ','))
            text[n++] = (char)c;
        skip = skip && c != '\n';
    }
    if (text == NULL)
        return NULL;
    text[n] = 0;
    while (n > 1 && text[n - 1] == '\n' && text[n - 2] == '\n')
        text[--n] = 0;
    return text;
}

dp_status data_set_read(const data_set *of, const char *folder, const char *source,
                        dp_table **table, dp_error *err)
{
    const dp_csv_options options = {.separator = of->separator};
    gzFile file = open_data_set(of, folder, source);
    *table = NULL;
    if (file == NULL)
        return DP_EIO;
    char *text = read_text(of, file);
    (void)gzclose(file);
    if (text == NULL)
        return DP_ENOMEM;
    dp_status status =
        dp_table_parse_csv(text, strlen(text), &options, of->n_columns, of->columns, table, err);
    free(text);
    return status;
}
