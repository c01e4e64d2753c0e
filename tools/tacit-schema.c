/* The command schema: drafts a schema from a code book or from a public table, and says in words
 * what a schema declares, or all that is wrong with it. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/schema.h>

#include "tools/options.h"
#include "tools/tacit.h"

enum { MOST_SCHEMA = 1024 * 1024, MOST_FAULTS = 100 };

static int refuse(int status, const char *text)
{
    (void)fprintf(stderr, "tacit schema: %s\n", text);
    return status;
}

static int failed(dp_status status, const dp_error *err)
{
    return refuse(EXIT_REFUSED, err->text[0] != '\0' ? err->text : dp_status_text(status));
}

/* ---- drafting ---- */

/* A file that is there already is not written over. */
static FILE *open_out(const char *path)
{
    FILE *out = fopen(path, "wx");
    if (out == NULL)
        (void)fprintf(stderr,
                      "tacit schema: --out: %.300s cannot be made (%s); give another name\n", path,
                      strerror(errno));
    return out;
}

static int draft(const settings *s)
{
    dp_error err = {DP_OK, ""};
    const bool book = s->codebook != NULL;
    FILE *out = s->out != NULL ? open_out(s->out) : stdout;
    if (out == NULL)
        return EXIT_REFUSED;
    dp_status status = dp_schema_draft(book ? s->codebook : s->public_data,
                                       book ? DP_DRAFT_CODEBOOK : DP_DRAFT_PUBLIC, out, &err);
    if (s->out != NULL && fclose(out) != 0 && status == DP_OK)
        return refuse(EXIT_REFUSED, "--out: the draft cannot be written; is the disk full?");
    if (s->out != NULL && status != DP_OK)
        (void)unlink(s->out);
    return status == DP_OK ? EXIT_CERTIFIED : failed(status, &err);
}

/* ---- checking ---- */

/* The text of a schema's file, with at most a byte more than a schema may have; NULL with a message
 * where there is none. */
static char *read_text(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *text = file != NULL ? malloc(MOST_SCHEMA + 1) : NULL;
    *size = text != NULL ? fread(text, 1, MOST_SCHEMA + 1, file) : 0;
    if (text == NULL || ferror(file)) {
        (void)fprintf(stderr, "tacit schema: --check: %.300s cannot be read (%s)\n", path,
                      strerror(errno));
        free(text);
        text = NULL;
    }
    if (file != NULL)
        (void)fclose(file);
    return text;
}

static void tell_levels(const dp_column *c)
{
    (void)printf("%s", c->n_levels == 1 ? "always " : "one of ");
    for (size_t i = 0; i < c->n_levels; i++)
        (void)printf("%s%s", i == 0 ? "" : ", ", c->levels[i]);
    (void)printf("\n");
}

static void tell_column(const dp_column *c)
{
    (void)printf("  %-12s ", c->name);
    if (c->kind == DP_COLUMN_UNIT)
        (void)printf("whom a record belongs to; all records of one are protected together\n");
    else if (c->kind == DP_COLUMN_LEVEL)
        tell_levels(c);
    else
        (void)printf("a %snumber from %.15g to %.15g; what is outside %s\n",
                     c->kind == DP_COLUMN_INTEGER ? "whole " : "", c->low, c->high,
                     c->clamp ? "becomes the nearer end" : "is an error");
}

static void tell(const char *path, const dp_schema *schema)
{
    size_t n;
    const dp_column *columns = dp_schema_columns(schema, &n);
    const dp_csv_options *csv = dp_schema_csv(schema);
    const char *separator = csv->separator == ';'    ? "semicolons"
                            : csv->separator == '\t' ? "tabs"
                                                     : "commas";
    (void)printf("%s: a schema of %zu column%s\n", path, n, n == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++)
        tell_column(&columns[i]);
    (void)printf("Fields of a CSV file are parted by %s.  A record that lacks a value %s.\n",
                 separator, csv->drop_missing ? "is left out" : "is an error");
    if (dp_schema_records(schema) > 0)
        (void)printf("That there are %zu records is public.\n", dp_schema_records(schema));
    else
        (void)printf("How many records there are is not told.\n");
}

static int check(const char *path)
{
    size_t size, n;
    char *text = read_text(path, &size);
    dp_error *faults = calloc(MOST_FAULTS, sizeof *faults), err = {DP_OK, ""};
    if (text == NULL || faults == NULL) {
        free(faults);
        free(text);
        return EXIT_REFUSED;
    }
    const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    dp_schema *schema = NULL;
    dp_status status = dp_schema_check(text, size, name, MOST_FAULTS, faults, &n);
    for (size_t i = 0; i < n; i++)
        (void)refuse(0, faults[i].text);
    if (n == MOST_FAULTS)
        (void)refuse(0, "and perhaps more, which are told when these are mended");
    if (status == DP_OK)
        status = dp_schema_parse(text, size, name, &schema, &err);
    if (status == DP_OK)
        tell(name, schema);
    dp_schema_free(schema);
    free(faults);
    free(text);
    return status == DP_OK ? EXIT_CERTIFIED : EXIT_REFUSED;
}

static int run(const command *self, int argc, char **argv)
{
    settings s = settings_none();
    message why = {""};
    if (!options_parse(self->options, argc, argv, &s, &why))
        return refuse(EXIT_USAGE, why.text);
    if (s.help) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    if ((s.codebook != NULL) + (s.public_data != NULL) + (s.check != NULL) != 1)
        return refuse(EXIT_USAGE,
                      "from what? give one of --codebook FILE, --public FILE (a table whose "
                      "records are public: a draft tells of them) and --check SCHEMA");
    if (s.check != NULL && s.out != NULL)
        return refuse(EXIT_USAGE, "--out is of drafts; --check answers on standard output");
    return s.check != NULL ? check(s.check) : draft(&s);
}

const command command_schema = {
    "schema",
    FOR_SCHEMA,
    "drafts or checks what is public of a table",
    "Drafts a schema from a code book, a CSV file with a line a column (name, type, min, max,\n"
    "values, unit, label), or from a table that is public; or tells in words what a schema\n"
    "declares, or everything that is wrong with it, by line.  Ranges and levels that are read\n"
    "off private records tell of them, and no epsilon counts that: --public says that the\n"
    "records of FILE may be known to all.  What a draft cannot decide stands in it as a comment\n"
    "(doc/schema.md).",
    "tacit schema --codebook survey-codebook.csv --out survey.schema",
    run};
