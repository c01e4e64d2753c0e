/* A formula in words, and its model as C. */
#include <string.h>

#include "base/error.h"
#include "formula/atom.h"
#include "formula/walk.h"

/* ---- in words ---- */

static void number_text(dpi_bytes *to, const char *before, double number, const char *after)
{
    dpi_text_add(to, before);
    dpi_text_short(to, number);
    dpi_text_add(to, after);
}

/* "(age - 2.5)/8.75", from the column's own numbers. */
static void column_text(const dpi_design_column *c, dpi_bytes *to)
{
    dpi_text_add(to, "  ");
    dpi_text_add(to, c->name);
    if (!dpi_column_is_plain(c)) {
        number_text(to, ", from ", c->range.low, "");
        number_text(to, " to ", c->range.high, "");
        number_text(to, ", less ", c->centre, "");
        number_text(to, " and divided by ", c->scale, "");
    } else {
        number_text(to, ", ", c->range.low, "");
        number_text(to, " to ", c->range.high, "");
    }
    dpi_text_add(to, "\n");
}

static void design_text(const dpi_design *d, bool intercept, dpi_bytes *to)
{
    dpi_text_add(to, d->intercept && intercept ? "  1, the intercept\n" : "");
    for (size_t j = 0; j < d->n; j++)
        column_text(&d->column[j], to);
}

static void predictor_text(const dp_formula *f, size_t i, dpi_bytes *to)
{
    const dpi_predictor *p = f->predictor[i];
    const dpi_layout *l = &f->layout[i];
    const dpi_link link = i == 0 ? f->response.link : f->response.family->parameter[i - 1].link;
    const bool ordered = i == 0 && f->response.family->outcome == DPI_OUTCOME_ORDERED;
    dpi_text_add(to, link == DPI_IDENTITY ? "" : dpi_link_name(link));
    dpi_text_add(to, link == DPI_IDENTITY ? "" : "(");
    dpi_text_add(to, ordered ? "p_k" : p->of);
    dpi_text_add(to, link == DPI_IDENTITY ? " is the sum of\n"
                     : ordered            ? ") is threshold k less the sum of\n"
                                          : ") is the sum of\n");
    design_text(&l->design, !ordered, to);
    for (size_t s = 0; s < p->n_smooths; s++) {
        dpi_text_add(to, "  ");
        dpi_tree_text(p->smooth[s], to);
        number_text(to, ", a smooth function from ", l->smooth[s].low, "");
        number_text(to, " to ", l->smooth[s].high, "");
        number_text(to, " of ", (double)dpi_smooth_size(p->smooth[s]), " functions\n");
    }
    for (size_t o = 0; o < p->n_offsets; o++) {
        dpi_text_add(to, "  ");
        dpi_tree_text(p->offset[o], to);
        dpi_text_add(to, ", as it is\n");
    }
    for (size_t g = 0; g < p->n_groupings; g++) {
        dpi_text_add(to, "  effects of each of ");
        dpi_text_number(to, (double)l->members[g]);
        dpi_text_add(to, " groups by ");
        dpi_by_text(&p->grouping[g], to);
        dpi_text_add(to, p->grouping[g].correlated && l->effects[g].n > 0
                             ? ", correlated within a group, of\n"
                             : ", of\n");
        dpi_bytes inner = {0};
        design_text(&l->effects[g], true, &inner);
        dpi_bytes_add(&inner, "", 1);
        for (const char *c = inner.failed ? "" : (const char *)inner.at; *c != 0;) {
            const size_t n = strcspn(c, "\n") + 1;
            dpi_text_add(to, "  ");
            dpi_bytes_add(to, c, n);
            c += n;
        }
        dpi_bytes_free(&inner);
    }
}

static void head_text(const dp_formula *f, dpi_bytes *to)
{
    dpi_text_add(to, f->text);
    dpi_text_add(to, "\nfamily ");
    dpi_text_add(to, f->family);
    dpi_text_add(to, ": ");
    dpi_tree_text(f->outcome, to);
    dpi_text_add(to, " is ");
    dpi_text_add(to, f->response.family->words);
    dpi_text_add(to, "\n");
    if (f->censored != NULL) {
        dpi_text_add(to, "  where ");
        dpi_text_add(to, f->censored->name);
        dpi_text_add(to, " is 1 it is above what was seen, where it is -1 that or below\n");
    }
    if (f->weight != NULL) {
        dpi_text_add(to, "  each record counts ");
        dpi_text_add(to, f->weight->name);
        dpi_text_add(to, " times\n");
    }
}

/* Writes out what was made, and frees it. */
static dp_status put(dpi_bytes *text, FILE *to, dp_error *err)
{
    const bool failed = text->failed, good = !failed && fwrite(text->at, 1, text->n, to) == text->n;
    dpi_bytes_free(text);
    if (failed)
        return dpi_fail_nomem(err);
    return good ? DP_OK : dpi_fail(err, DP_EIO, "the text cannot be written");
}

dp_status dp_formula_describe(const dp_formula *f, FILE *to, dp_error *err)
{
    if (f == NULL || to == NULL)
        dpi_misuse("dp_formula_describe", "f or to is NULL");
    dpi_bytes text = {0}, told = {0};
    dp_status status = DP_OK;
    head_text(f, &text);
    if (f->laid_out) {
        dpi_formula_walk k = {.f = f, .err = err, .told = &told};
        status = dpi_walk_model(&k);
        dp_model_free(k.w.model);
        for (size_t i = 0; i < DPI_MOST_PREDICTORS; i++)
            if (f->predictor[i] != NULL)
                predictor_text(f, i, &text);
        dpi_text_add(&text, "parameters and their priors\n");
        text.failed = text.failed || told.failed;
        dpi_bytes_add(&text, told.at, told.n);
    }
    dpi_bytes_free(&told);
    if (status == DP_OK)
        return put(&text, to, err);
    dpi_bytes_free(&text);
    return status;
}

/* ---- as C ---- */

/* Words of C and C++, which no function's name can be, and main, whose type is another one. */
static bool is_taken(const char *name)
{
    static const char *const taken[] = {
        "auto",     "bool",     "break",   "case",      "catch",  "char",     "class",
        "const",    "continue", "default", "delete",    "do",     "double",   "else",
        "enum",     "extern",   "false",   "float",     "for",    "friend",   "goto",
        "if",       "inline",   "int",     "long",      "main",   "mutable",  "namespace",
        "new",      "operator", "private", "protected", "public", "register", "restrict",
        "return",   "short",    "signed",  "sizeof",    "static", "struct",   "switch",
        "template", "this",     "throw",   "true",      "try",    "typedef",  "typename",
        "union",    "unsigned", "using",   "virtual",   "void",   "volatile", "while"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(taken[i], name) == 0)
            return true;
    return false;
}

static bool is_identifier(const char *name)
{
    for (const char *c = name; *c != 0; c++) {
        const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
        if (!letter && (c == name || *c < '0' || *c > '9'))
            return false;
    }
    return name[0] != 0 && strlen(name) <= 60;
}

/* A text within a comment of C. */
static void comment_text(dpi_bytes *to, const char *text)
{
    for (const char *c = text; *c != 0; c++) {
        dpi_bytes_add(to, c, 1);
        if ((c[0] == '*' && c[1] == '/') || (c[0] == '/' && c[1] == '*'))
            dpi_text_add(to, " ");
    }
}

static void c_head(const dp_formula *f, const char *name, dpi_bytes *to)
{
    dpi_text_add(to, "/* ");
    comment_text(to, f->text);
    dpi_text_add(to, "\n * family ");
    dpi_text_add(to, f->family);
    dpi_text_add(to, ". */\n#include <tacit/model.h>\n\ndp_model *");
    dpi_text_add(to, name);
    dpi_text_add(to, "(void);\n\ndp_model *");
    dpi_text_add(to, name);
    dpi_text_add(to, "(void)\n{\n    dp_model *m = dp_model_new();\n    if (m == NULL)\n"
                     "        return NULL;\n    dp_plate rows = dp_unit_plate(m, \"rows\");\n");
}

dp_status dp_formula_c(const dp_formula *f, const char *name, FILE *to, dp_error *err)
{
    if (f == NULL || name == NULL || to == NULL)
        dpi_misuse("dp_formula_c", "f, name or to is NULL");
    dp_status status = dpi_formula_need_schema(f, err);
    if (status != DP_OK)
        return status;
    if (!is_identifier(name) || is_taken(name))
        return dpi_fail(
            err, DP_EINVAL,
            "the function's name is no identifier of C of at most 60 letters and digits, or a word "
            "of the language; give it another one");
    dpi_bytes text = {0};
    c_head(f, name, &text);
    dpi_formula_walk k = {.f = f, .err = err, .w = {.lines = &text}};
    status = dpi_walk_model(&k);
    dp_model_free(k.w.model);
    dpi_text_add(&text, "    return m;\n}\n");
    if (status == DP_OK)
        return put(&text, to, err);
    dpi_bytes_free(&text);
    return status;
}
