/* Models as bytes: nothing is lost, nothing hostile passes, the fingerprint sees every field. */
#include "model/store.h"

#include <math.h>
#include <string.h>

#include "graph/op.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"
#include "tests/model/random-model.h"

enum { MODELS = 200 };

static dpi_bytes stored(const dp_model *m)
{
    dpi_bytes bytes = {0};
    dp_error err = {0};
    assert_ok(dpi_model_store(m, &bytes, &err), err.text);
    assert_int_equal(bytes.n % 8, 0);
    return bytes;
}

static dp_model *restored(const dp_model *of, const dpi_bytes *bytes)
{
    dp_error err = {0};
    dp_model *m;
    assert_ok(dpi_model_restore(of, bytes->at, bytes->n, &m, &err), err.text);
    return m;
}

static void assert_same_bytes(const dp_model *a, const dp_model *b)
{
    dpi_bytes first = stored(a), second = stored(b);
    assert_int_equal(first.n, second.n);
    assert_memory_equal(first.at, second.at, first.n);
    dpi_bytes_free(&first);
    dpi_bytes_free(&second);
}

/* Field by field, so that the bytes are not their own witness. */
static void assert_same_model(const dp_model *a, const dp_model *b)
{
    assert_int_equal(a->graph.n_nodes, b->graph.n_nodes);
    for (size_t i = 0; i < a->graph.n_nodes; i++) {
        const dpi_node *p = &a->graph.nodes[i], *q = &b->graph.nodes[i];
        assert_ptr_equal(p->op, q->op);
        assert_memory_equal(p->in, q->in, sizeof p->in);
        assert_true(dpi_attr_same(&p->attr, &q->attr));
        const dpi_attr of_p = {.shape = p->shape}, of_q = {.shape = q->shape};
        assert_true(dpi_attr_same(&of_p, &of_q));
        assert_true((p->name == NULL) == (q->name == NULL));
        if (p->name != NULL)
            assert_string_equal(p->name, q->name);
        assert_int_equal(p->where.line, q->where.line);
    }
    assert_int_equal(a->n_sites, b->n_sites);
    for (size_t i = 0; i < a->n_sites; i++) {
        const dpi_site *p = &a->sites[i], *q = &b->sites[i];
        assert_true((p->family == NULL) == (q->family == NULL));
        if (p->family != NULL)
            assert_string_equal(p->family->name, q->family->name);
        assert_true(p->kind == q->kind && p->value == q->value &&
                    p->start.init.rule == q->start.init.rule &&
                    p->start.init.value == q->start.init.value &&
                    p->start.init.places == q->start.init.places &&
                    p->start.seed == q->start.seed && p->where.line == q->where.line);
        assert_string_equal(p->name, q->name);
        assert_string_equal(p->where.file, q->where.file);
        for (int k = 0; p->family != NULL && k < p->family->n_args; k++)
            assert_int_equal(p->arg[k], q->arg[k]);
    }
    assert_int_equal(a->n_plates, b->n_plates);
    for (size_t i = 0; i < a->n_plates; i++) {
        assert_string_equal(a->plates[i].name, b->plates[i].name);
        assert_int_equal(a->plates[i].size, b->plates[i].size);
    }
}

static void random_models_and_guides_come_back(void **state)
{
    (void)state;
    size_t guides = 0;
    for (uint64_t i = 0; i < MODELS; i++) {
        random_model r;
        random_model_new(&r, i);
        dpi_bytes bytes = stored(r.model);
        dp_model *m = restored(NULL, &bytes);
        assert_same_model(r.model, m);
        assert_same_bytes(r.model, m);
        if (r.guide != NULL) {
            dpi_bytes of_guide = stored(r.guide);
            dp_model *g = restored(m, &of_guide);
            assert_same_model(r.guide, g);
            assert_same_bytes(r.guide, g);
            dp_model_free(g);
            dpi_bytes_free(&of_guide);
            guides++;
        }
        dp_model_free(m);
        dpi_bytes_free(&bytes);
        random_model_free(&r);
    }
    assert_true(guides > MODELS / 20 && guides < MODELS);
}

/* Read and then observed, and the other way, as numbers and as categories. */
static void columns_that_are_read_and_observed_come_back(void **state)
{
    (void)state;
    for (int k = 0; k < 16; k++) {
        bool category = k % 2, read_first = k / 2 % 2, same_line = k / 4 % 2, late = k / 8 % 2;
        dp_model *m = dp_model_new();
        dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", 3);
        dp_expr w = dp_sample(m, "w", 3, dp_normal(0, 1));
        int line = 100;
        if (read_first && late)
            w = dp_tanh(w);
        if (read_first)
            (void)(category ? dp_index_at(rows, "y", groups, "a.c", line)
                            : dp_data_at(rows, "y", 3, "a.c", line));
        if (read_first && !late)
            w = dp_tanh(w);
        dp_observe_at(rows, "y", category ? dp_categorical_logit(w) : dp_normal_v(w, dp_num(1)),
                      "a.c", same_line ? line : line + 1);
        if (!category)
            (void)dp_deterministic(m, "twice",
                                   dp_scale(2, dp_data_at(rows, "y", 3, "a.c", line + 2)));
        assert_ok(dp_model_status(m), dp_model_error(m));
        dpi_bytes bytes = stored(m);
        dp_model *again = restored(NULL, &bytes);
        assert_same_model(m, again);
        dp_model_free(again);
        dpi_bytes_free(&bytes);
        dp_model_free(m);
    }
}

static void a_restored_model_goes_on_and_finds_its_nodes(void **state)
{
    (void)state;
    random_model r;
    random_model_new(&r, 5);
    dpi_bytes bytes = stored(r.model);
    dp_model *m = restored(NULL, &bytes);
    for (size_t i = 0; i < r.model->graph.n_nodes; i++) {
        const dpi_node node = r.model->graph.nodes[i];
        size_t before = m->graph.n_nodes;
        if (node.op->n_inputs == 0)
            continue;
        assert_int_equal(dpi_apply(&m->graph, node.op, node.in[0], node.in[1], &node.attr), i);
        assert_int_equal(m->graph.n_nodes, before);
    }
    const dpi_site *eta = dpi_find_site(m, "eta");
    dp_expr more = dp_add((dp_expr){.model = m, .id = eta->value}, dp_num(1.385));
    assert_int_equal(more.id, m->graph.n_nodes - 1);
    assert_ok(dp_model_status(m), dp_model_error(m));
    dp_model_free(m);
    dpi_bytes_free(&bytes);
    random_model_free(&r);
}

/* ---- the fingerprint; more of it in t-fingerprint ---- */

static dp_model *two_lines(int line)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate_at(m, "rows", "a.c", line);
    dp_expr w = dp_sample_at(m, "w", 1, dp_normal(0, 1), "a.c", line + 1);
    dp_observe_at(rows, "y", dp_normal_v(w, dp_num(1)), "a.c", line + 2);
    return m;
}

static void the_fingerprint_does_not_see_the_place_in_the_source(void **state)
{
    (void)state;
    unsigned char first[DPI_PRINT], second[DPI_PRINT];
    dp_model *a = two_lines(7), *b = two_lines(8);
    dpi_model_print(a, first);
    dpi_model_print(b, second);
    assert_memory_equal(first, second, DPI_PRINT);
    dpi_bytes of_a = stored(a), of_b = stored(b);
    assert_true(memcmp(of_a.at, of_b.at, of_a.n) != 0); /* which messages are made from */
    dpi_bytes_free(&of_a);
    dpi_bytes_free(&of_b);
    dp_model_free(a);
    dp_model_free(b);
}

/* ---- hostile bytes ---- */

/* An error with a message, or the same bytes again. */
static bool survives(const unsigned char *bytes, size_t n)
{
    dp_error err = {0};
    dp_model *m;
    dp_status status = dpi_model_restore(NULL, bytes, n, &m, &err);
    assert_true(status == err.status);
    if (status != DP_OK) {
        assert_null(m);
        assert_true(strlen(err.text) > 20);
        return false;
    }
    dpi_bytes again = stored(m);
    assert_int_equal(again.n, n);
    assert_memory_equal(again.at, bytes, n);
    dpi_bytes_free(&again);
    dp_model_free(m);
    return true;
}

static void cut_anywhere_it_is_refused(void **state)
{
    (void)state;
    random_model r;
    random_model_new(&r, 1);
    dpi_bytes bytes = stored(r.model);
    for (size_t n = 0; n < bytes.n; n++)
        assert_false(survives(bytes.at, n));
    dpi_bytes_add(&bytes, NULL, 8);
    assert_false(survives(bytes.at, bytes.n));
    dpi_bytes_free(&bytes);
    random_model_free(&r);
}

static void any_number_changed_gives_an_error_or_another_sound_model(void **state)
{
    (void)state;
    static const uint64_t values[] = {0,          1,          2,          3,
                                      0x7fffffff, 0xffffffff, UINT64_MAX, UINT64_MAX - 1,
                                      1ull << 63, 1ull << 40, 0x100000001};
    random_model r;
    random_model_new(&r, 3);
    dpi_bytes bytes = stored(r.model);
    size_t sound = 0;
    for (size_t at = 0; at < bytes.n; at += 8) {
        unsigned char kept[8];
        memcpy(kept, bytes.at + at, 8);
        for (size_t k = 0; k < sizeof values / sizeof values[0] + 16; k++) {
            if (k < 16) /* a bit of each byte, low or high */
                bytes.at[at + k / 2] ^= k % 2 == 0 ? 1 : 0x80;
            else
                dpi_put_number(bytes.at + at, values[k - 16]);
            sound += survives(bytes.at, bytes.n);
            memcpy(bytes.at + at, kept, 8);
        }
    }
    assert_true(survives(bytes.at, bytes.n));
    assert_true(sound > 0); /* numbers of arrays are free */
    dpi_bytes_free(&bytes);
    random_model_free(&r);
}

/* The bytes with the first `from` replaced by `to`, of the same length. */
static void refuses_with(const dpi_bytes *bytes, const char *from, const char *to, dp_status status,
                         const char *says)
{
    dp_error err = {0};
    dp_model *m;
    size_t n = strlen(from), at = 0;
    while (at + n <= bytes->n && memcmp(bytes->at + at, from, n) != 0)
        at++;
    assert_true(at + n <= bytes->n);
    memcpy(bytes->at + at, to, n);
    assert_fails(dpi_model_restore(NULL, bytes->at, bytes->n, &m, &err), status, &err, says);
    memcpy(bytes->at + at, from, n);
}

static void what_is_unknown_is_named(void **state)
{
    (void)state;
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", 3, dp_laplace(0, 1));
    dp_observe(rows, "y", dp_normal_v(dp_sum(dp_tanh(w)), dp_num(1)));
    dpi_bytes bytes = stored(m);
    refuses_with(&bytes, "tanh", "tank", DP_EUNSUPPORTED, "operation 'tank'");
    refuses_with(&bytes, "laplace", "laplase", DP_EUNSUPPORTED, "distribution 'laplase'");
    refuses_with(&bytes, "latent", "patent", DP_EUNSUPPORTED, "kind of site 'patent'");
    refuses_with(&bytes, "tacitmod", "tacitmob", DP_EDATA, "no model");
    refuses_with(&bytes, "rows", "ro\nw", DP_EDATA, "a text is none");
    bytes.at[8]++; /* the version */
    dp_error err = {0};
    dp_model *none;
    assert_fails(dpi_model_restore(NULL, bytes.at, bytes.n, &none, &err), DP_EUNSUPPORTED, &err,
                 "version 2");
    bytes.at[8]--;
    assert_fails(dpi_model_restore(m, bytes.at, bytes.n, &none, &err), DP_EDATA, &err, "guide");
    dpi_bytes_free(&bytes);
    dp_model_free(m);
}

/* Each is put back on x = node 0, y = node 1, -x = node 2. */
static void nodes_that_were_never_written_are_not_put_back(void **state)
{
    (void)state;
    const struct {
        dpi_node node;
        const char *says;
    } refused[] = {
        {{.op = &dpi_op_neg, .in = {2, DPI_NONE}}, "simplified"},
        {{.op = &dpi_op_add, .in = {1, 2}}, "simplified"},
        {{.op = &dpi_op_neg, .in = {0, DPI_NONE}}, "equal node"},
        {{.op = &dpi_op_neg, .in = {3, DPI_NONE}}, "not nodes before it"},
        {{.op = &dpi_op_neg, .in = {DPI_NONE, DPI_NONE}}, "not nodes before it"},
        {{.op = &dpi_op_neg, .in = {0, 1}}, "not nodes before it"},
        {{.op = &dpi_op_pick, .in = {0, 1}}, "index column"},
        {{.op = &dpi_op_matmul, .in = {0, 1}, .attr.inner = 7}, "attributes"},
        {{.op = &dpi_op_matmul, .in = {0, 1}}, "attributes"},
        {{.op = &dpi_op_spread, .in = {0, DPI_NONE}, .attr.number = SIZE_MAX}, "size"},
    };
    for (size_t k = 0; k < sizeof refused / sizeof refused[0]; k++) {
        dp_error err = {0};
        dp_model *m = dp_model_new();
        dp_expr x = dp_sample(m, "x", 3, dp_normal(0, 1)),
                y = dp_sample(m, "y", 3, dp_normal(0, 1));
        dpi_graph g;
        dpi_graph_init(&g, &m->arena, &err);
        for (int i = 0; i < 2; i++)
            (void)dpi_source(&g, &dpi_op_input, "xy",
                             dpi_get(&m->graph, i == 0 ? x.id : y.id)->attr);
        const dpi_node minus_x = {.op = &dpi_op_neg, .in = {0, DPI_NONE}, .name = "minus x"};
        assert_int_equal(dpi_put_back(&g, &minus_x), 2);
        assert_null(dpi_get(&g, 2)->name); /* which would be the reader's, and freed with it */
        assert_int_equal(dpi_put_back(&g, &refused[k].node), DPI_NONE);
        assert_fails(err.status, DP_EDATA, &err, refused[k].says);
        dp_model_free(m);
    }
}

static void a_broken_model_is_not_stored(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_bytes bytes = {0};
    dp_model *m = dp_model_new();
    (void)dp_plate_new(m, "none", 0);
    assert_fails(dpi_model_store(m, &bytes, &err), DP_EINVAL, &err, "none");
    dpi_bytes_free(&bytes);
    dp_model_free(m);
}

/* ---- memory ---- */

static void each_allocation_may_fail(void **state)
{
    (void)state;
    random_model r;
    random_model_new(&r, 8);
    dpi_bytes bytes = stored(r.model);
    size_t k = 1, before = faulty_live();
    for (;; k++) {
        dp_error err = {0};
        dp_model *m;
        faulty_fail(k);
        dp_status status = dpi_model_restore(NULL, bytes.at, bytes.n, &m, &err);
        bool failed = faulty_failed();
        faulty_fail(0);
        dp_model_free(m);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_int_equal(faulty_live(), before);
        if (!failed)
            break;
    }
    assert_true(k > 8);
    dpi_bytes again = {0};
    for (k = 1;; k++) {
        dpi_bytes_free(&again);
        faulty_fail(k);
        dp_status status = dpi_model_store(r.model, &again, NULL);
        bool failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        if (!failed)
            break;
    }
    dpi_bytes_free(&again);
    dpi_bytes_free(&bytes);
    random_model_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_models_and_guides_come_back),
        cmocka_unit_test(columns_that_are_read_and_observed_come_back),
        cmocka_unit_test(a_restored_model_goes_on_and_finds_its_nodes),
        cmocka_unit_test(the_fingerprint_does_not_see_the_place_in_the_source),
        cmocka_unit_test(cut_anywhere_it_is_refused),
        cmocka_unit_test(any_number_changed_gives_an_error_or_another_sound_model),
        cmocka_unit_test(what_is_unknown_is_named),
        cmocka_unit_test(nodes_that_were_never_written_are_not_put_back),
        cmocka_unit_test(a_broken_model_is_not_stored),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
