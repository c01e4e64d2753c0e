/* The fingerprint of a model, by which checkpoints, ledgers and ranks know it, sees every field. */
#include <string.h>

#include "graph/op.h"
#include "model/store.h"
#include "tests/graph/points.h"
#include "tests/lib/check.h"
#include "tests/model/random-model.h"

static void assert_seen(dp_model *m, const unsigned char before[DPI_PRINT], const char *what)
{
    unsigned char after[DPI_PRINT];
    dpi_model_print(m, after);
    if (memcmp(before, after, DPI_PRINT) == 0)
        fail_msg("the fingerprint does not see %s", what);
}

/* Changes each element of each field in turn. */
static void change_each_field(dp_model *m, dpi_node *node)
{
    unsigned char before[DPI_PRINT], after[DPI_PRINT];
    dpi_model_print(m, before);
    for (size_t k = 0; k < dpi_n_attr_fields; k++) {
        const dpi_field *field = &dpi_attr_fields[k];
        size_t n = dpi_field_size(field, &node->attr);
        for (size_t i = 0; i < n; i++) {
            uint64_t bits = dpi_field_get(field, &node->attr, i);
            uint64_t other = field->kind == DPI_FIELD_FLAG ? !bits : bits ^ 1;
            const dpi_attr kept = node->attr;
            double copy[256];
            if (field->kind == DPI_FIELD_ARRAY) {
                assert_true(n <= 256);
                memcpy(copy, kept.array, n * sizeof *copy);
                memcpy(&copy[i], &other, sizeof other);
                node->attr.array = copy;
            } else
                assert_true(dpi_field_set(field, &node->attr, i, other));
            assert_seen(m, before, field->name);
            node->attr = kept;
        }
    }
    for (int k = 0; k < node->op->n_inputs; k++) {
        node->in[k] ^= 1;
        assert_seen(m, before, "an input");
        node->in[k] ^= 1;
    }
    const dpi_op *op = node->op;
    node->op = dpi_ops[(op->id + 1) % DPI_N_OPS];
    assert_seen(m, before, "the operation");
    node->op = op;
    dpi_model_print(m, after);
    assert_memory_equal(before, after, DPI_PRINT);
}

static void the_fingerprint_sees_each_field_of_each_operation(void **state)
{
    (void)state;
    bool seen[DPI_N_OPS] = {false};
    point *list;
    size_t n = points_all(&list);
    for (size_t i = 0; i < n; i++) {
        world w;
        world_of_point(&w, &list[i]);
        dp_model m = {.graph = w.g};
        for (size_t k = 0; k < m.graph.n_nodes; k++) {
            seen[m.graph.nodes[k].op->id] = true;
            change_each_field(&m, &m.graph.nodes[k]);
        }
        world_free(&w);
    }
    for (size_t k = 0; k < DPI_N_OPS; k++)
        assert_true(dpi_ops[k]->n_inputs == 0 || seen[k]);
    free(list);
}

static void the_fingerprint_sees_each_field_of_random_models(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 12; i++) {
        random_model r;
        unsigned char before[DPI_PRINT];
        random_model_new(&r, i);
        for (size_t k = 0; k < r.model->graph.n_nodes; k++)
            change_each_field(r.model, &r.model->graph.nodes[k]);
        dpi_model_print(r.model, before);
        for (size_t k = 0; k < r.model->n_sites; k++) {
            dpi_site *site = &r.model->sites[k];
            const dpi_site kept = *site;
            dpi_start start = site->start;
            site->start.init.value += 1;
            assert_seen(r.model, before, "a parameter's start");
            site->start = start, site->start.init.rule ^= 1;
            assert_seen(r.model, before, "the rule of a start");
            site->start = start, site->start.init.places++;
            assert_seen(r.model, before, "the places of a start");
            site->start = start, site->start.seed++;
            assert_seen(r.model, before, "the seed of a start");
            site->start = start;
            *site = kept;
            site->value ^= 1;
            assert_seen(r.model, before, "a site's node");
            *site = kept;
            site->name = "another";
            assert_seen(r.model, before, "a site's name");
            *site = kept;
            if (kept.family == NULL)
                continue;
            site->arg[0] ^= 1;
            assert_seen(r.model, before, "an argument");
            *site = kept;
        }
        r.model->plates[1].size++;
        assert_seen(r.model, before, "the size of a plate");
        random_model_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fingerprint_sees_each_field_of_each_operation),
        cmocka_unit_test(the_fingerprint_sees_each_field_of_random_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
