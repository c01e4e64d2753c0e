/* Terms as text. */
#include "formula/terms.h"

void dpi_set_text(const dpi_predictor *p, uint64_t set, dpi_bytes *to)
{
    const char *between = "";
    for (size_t v = 0; v < p->n_variables; v++)
        if ((set >> v & 1) != 0) {
            dpi_text_add(to, between);
            dpi_text_add(to, p->text[v]);
            between = ":";
        }
}

static void terms_text(const dpi_predictor *p, const dpi_term_list *terms, dpi_bytes *to)
{
    dpi_text_add(to, terms->intercept ? "1" : "0");
    for (size_t i = 0; i < terms->n; i++) {
        dpi_text_add(to, " + ");
        dpi_set_text(p, terms->set[i], to);
    }
}

void dpi_by_text(const dpi_grouping *g, dpi_bytes *to)
{
    dpi_text_add(to, g->several ? "mm(" : "");
    for (size_t i = 0; i < g->n_by; i++) {
        dpi_text_add(to, i == 0 ? "" : g->several ? ", " : ":");
        dpi_text_name(to, g->by[i]->name);
    }
    dpi_text_add(to, g->several ? ")" : "");
}

void dpi_predictor_text(const dpi_predictor *p, dpi_bytes *to)
{
    terms_text(p, &p->terms, to);
    for (size_t i = 0; i < p->n_smooths; i++) {
        dpi_text_add(to, " + ");
        dpi_tree_text(p->smooth[i], to);
    }
    for (size_t i = 0; i < p->n_offsets; i++) {
        dpi_text_add(to, " + offset(");
        dpi_tree_text(p->offset[i], to);
        dpi_text_add(to, ")");
    }
    for (size_t g = 0; g < p->n_groupings; g++) {
        dpi_text_add(to, " + (");
        terms_text(p, &p->grouping[g].terms, to);
        dpi_text_add(to, p->grouping[g].correlated ? " | " : " || ");
        dpi_by_text(&p->grouping[g], to);
        dpi_text_add(to, ")");
    }
}
