/* The graph of an ONNX file: names, the input, which nodes the output needs, and these in turn.
 *
 * Every name is given once: by the input, by an initialiser or by a node.  A node reads what is
 * given before it, so that a graph that goes round is refused where it does.  Nodes that the output
 * does not need are left out, whatever they are. */
#include <stdlib.h>
#include <string.h>

#include "serve/onnx.h"

enum { MOST_NODES = 1 << 14, MOST_NAMES = 1 << 16, OLDEST = 7, NEWEST = 24 };

/* Errors of the graph as a whole. */
static bool fail(dpi_onnx *x, dp_status status, const char *what, const char *name)
{
    char word[DPI_ONNX_WORD];
    if (name != NULL)
        (void)dpi_fail(&x->err, status, "%s: '%s' %s", x->file, dpi_onnx_word(name, word), what);
    else
        (void)dpi_fail(&x->err, status, "%s: %s", x->file, what);
    return false;
}

static bool is_own_domain(const char *domain)
{
    return domain == NULL || domain[0] == '\0' || strcmp(domain, "ai.onnx") == 0;
}

static bool check_model(dpi_onnx *x, const Onnx__ModelProto *model)
{
    int64_t version = -1;
    if (model->graph == NULL)
        return fail(x, DP_EDATA, "there is no graph in it; is it an ONNX file?", NULL);
    for (size_t i = 0; i < model->n_opset_import; i++)
        if (is_own_domain(model->opset_import[i]->domain))
            version = model->opset_import[i]->version;
    if (version < OLDEST || version > NEWEST)
        return fail(x, DP_EUNSUPPORTED,
                    "operators of versions 7 to 24 are read; export it with such an opset", NULL);
    if (model->n_functions > 0)
        return fail(x, DP_EUNSUPPORTED, "functions of a file are not read; export them as nodes",
                    NULL);
    if (model->graph->n_sparse_initializer > 0)
        return fail(x, DP_EUNSUPPORTED, "sparse constants are not read; store them dense", NULL);
    if (model->graph->n_node > MOST_NODES)
        return fail(x, DP_EUNSUPPORTED, "it has more than 16384 nodes", NULL);
    x->graph = model->graph;
    return true;
}

/* ---- names ---- */

static int by_name(const void *a, const void *b)
{
    const dpi_onnx_value *v = a, *w = b;
    int order = strcmp(v->name, w->name);
    return order != 0 ? order : (w->stored != NULL) - (v->stored != NULL); /* initialisers first */
}

static dpi_onnx_value *find(const dpi_onnx *x, const char *name)
{
    size_t low = 0, high = x->n_values;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(x->values[middle].name, name);
        if (order == 0)
            return &x->values[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool there(const char *name)
{
    return name != NULL && name[0] != '\0';
}

/* Files of old versions list initialisers as inputs too. */
static bool is_repeated_input(const dpi_onnx_value *v, const dpi_onnx_value *before)
{
    return before->stored != NULL && v->given && v->stored == NULL;
}

static bool sort_names(dpi_onnx *x, size_t n)
{
    qsort(x->values, n, sizeof *x->values, by_name);
    for (size_t i = 0; i < n; i++) {
        dpi_onnx_value *last = x->n_values > 0 ? &x->values[x->n_values - 1] : NULL;
        bool twice = last != NULL && strcmp(last->name, x->values[i].name) == 0;
        if (twice && !is_repeated_input(&x->values[i], last))
            return fail(x, DP_ENAME, "is given more than once", last->name);
        if (!twice)
            x->values[x->n_values++] = x->values[i];
    }
    return true;
}

/* All names that are given, sorted. */
static bool collect_names(dpi_onnx *x)
{
    const Onnx__GraphProto *g = x->graph;
    size_t room = g->n_initializer + g->n_input, n = 0;
    for (size_t i = 0; i < g->n_node; i++)
        room += g->node[i]->n_output;
    if (room > MOST_NAMES)
        return fail(x, DP_EUNSUPPORTED, "it has more than 65536 names", NULL);
    x->values = dpi_onnx_alloc(x, room, sizeof *x->values);
    if (x->values == NULL)
        return false;
    for (size_t i = 0; i < g->n_initializer; i++)
        if (there(g->initializer[i]->name))
            x->values[n++] = (dpi_onnx_value){
                .name = g->initializer[i]->name, .stored = g->initializer[i], .given = true};
    for (size_t i = 0; i < g->n_input; i++)
        if (there(g->input[i]->name))
            x->values[n++] = (dpi_onnx_value){.name = g->input[i]->name, .given = true};
    for (size_t i = 0; i < g->n_node; i++)
        for (size_t k = 0; k < g->node[i]->n_output; k++)
            if (there(g->node[i]->output[k]))
                x->values[n++] = (dpi_onnx_value){.name = g->node[i]->output[k]};
    return sort_names(x, n);
}

/* ---- the input ---- */

static bool is_real(int32_t type)
{
    return type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT ||
           type == ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE ||
           type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16;
}

/* Its dimensions: the batch, of 1 or without a number, and one to three others. */
static bool read_input(dpi_onnx *x, const Onnx__ValueInfoProto *info)
{
    const Onnx__TypeProto *type = info->type;
    if (type == NULL || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ||
        type->tensor_type->shape == NULL || !is_real(type->tensor_type->elem_type))
        return fail(x, DP_EUNSUPPORTED, "is no array of real numbers with a shape", info->name);
    const Onnx__TensorShapeProto *shape = type->tensor_type->shape;
    if (shape->n_dim < 2 || shape->n_dim > DPI_ONNX_AXES + 1)
        return fail(x, DP_EUNSUPPORTED, "is not of 2 to 4 dimensions, with the batch", info->name);
    size_t all = 1;
    for (size_t i = 0; i < shape->n_dim; i++) {
        const Onnx__TensorShapeProto__Dimension *d = shape->dim[i];
        bool fixed = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        if (i == 0 && fixed && d->dim_value != 1)
            return fail(x, DP_EUNSUPPORTED, "has a batch that is not 1 and has no name",
                        info->name);
        if (i == 0)
            continue;
        if (!fixed || d->dim_value < 1 || d->dim_value > DPI_ONNX_INPUT ||
            !dpi_mul(all, (size_t)d->dim_value, &all) || all > DPI_ONNX_INPUT)
            return fail(x, DP_EUNSUPPORTED, "has a dimension that is not fixed, or above 2^20",
                        info->name);
        x->input->dims[i - 1] = (size_t)d->dim_value;
    }
    bool image = shape->n_dim == 4;
    x->input->rank = shape->n_dim - 1;
    x->input_shape[0] = image ? x->input->dims[1] : 1;
    x->input_shape[1] = image ? x->input->dims[2] : 1;
    x->input_shape[2] = image ? x->input->dims[0] : all;
    return true;
}

static bool find_input(dpi_onnx *x)
{
    const Onnx__GraphProto *g = x->graph;
    for (size_t i = 0; i < g->n_input; i++) {
        dpi_onnx_value *v = there(g->input[i]->name) ? find(x, g->input[i]->name) : NULL;
        if (v == NULL || v->stored != NULL)
            continue;
        if (x->input != NULL)
            return fail(x, DP_EUNSUPPORTED, "is a second input; one is served", v->name);
        x->input = v;
        if (!read_input(x, g->input[i]))
            return false;
    }
    return x->input != NULL || fail(x, DP_EDATA, "it has no input", NULL);
}

/* ---- what the output needs ---- */

/* Counts who reads each value, from the output on backwards. */
static bool count_uses(dpi_onnx *x)
{
    const Onnx__GraphProto *g = x->graph;
    if (g->n_output != 1 || !there(g->output[0]->name))
        return fail(x, DP_EUNSUPPORTED, "it has not just one output; one is served", NULL);
    x->output = find(x, g->output[0]->name);
    if (x->output == NULL)
        return fail(x, DP_ENAME, "is its output, and nothing gives it", g->output[0]->name);
    x->output->uses = 1;
    for (size_t i = g->n_node; i-- > 0;) {
        const Onnx__NodeProto *node = g->node[i];
        bool needed = false;
        for (size_t k = 0; k < node->n_output; k++)
            needed = needed || (there(node->output[k]) && find(x, node->output[k])->uses > 0);
        for (size_t k = 0; needed && k < node->n_input; k++) {
            dpi_onnx_value *v = there(node->input[k]) ? find(x, node->input[k]) : NULL;
            if (v == NULL && there(node->input[k]))
                return fail(x, DP_ENAME, "is read, and nothing gives it", node->input[k]);
            if (v != NULL)
                v->uses++;
        }
    }
    return true;
}

/* ---- nodes ---- */

/* The node's name between blanks is in a list of such. */
static bool listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strstr(list, name); at != NULL && length > 0; at = strstr(at + 1, name))
        if (at > list && at[-1] == ' ' && at[length] == ' ')
            return true;
    return false;
}

static bool check_attributes(dpi_onnx_node *n, const dpi_onnx_operator *op)
{
    char word[DPI_ONNX_WORD];
    for (size_t i = 0; i < n->proto->n_attribute; i++) {
        const Onnx__AttributeProto *a = n->proto->attribute[i];
        if (!there(a->name) || a->ref_attr_name != NULL)
            return dpi_onnx_fail(n, DP_EDATA, "it has an attribute without a name of its own");
        if (!listed(op->attributes, a->name))
            return dpi_onnx_fail(n, DP_EUNSUPPORTED, "its attribute %s is not served",
                                 dpi_onnx_word(a->name, word));
        if (dpi_onnx_attribute(n, a->name) != a)
            return dpi_onnx_fail(n, DP_EDATA, "its attribute %s is there twice",
                                 dpi_onnx_word(a->name, word));
    }
    return true;
}

static bool find_operands(dpi_onnx_node *n, const dpi_onnx_operator *op)
{
    char word[DPI_ONNX_WORD];
    n->n_in = n->proto->n_input;
    if (n->n_in < op->fewest || n->n_in > op->most)
        return dpi_onnx_fail(n, DP_EDATA, "it has %zu inputs, and takes %zu to %zu", n->n_in,
                             op->fewest, op->most);
    for (size_t k = 0; k < n->n_in; k++) {
        const char *name = n->proto->input[k];
        n->in[k] = there(name) ? find(n->x, name) : NULL;
        if (n->in[k] != NULL && !n->in[k]->given)
            return dpi_onnx_fail(
                n, DP_EDATA,
                "it reads '%s', which nothing before it gives; nodes have to be in "
                "order and may not go round",
                dpi_onnx_word(name, word));
    }
    return true;
}

static bool run_node(dpi_onnx_node *n)
{
    const Onnx__NodeProto *proto = n->proto;
    const dpi_onnx_operator *op =
        is_own_domain(proto->domain) ? dpi_onnx_operator_of(proto->op_type) : NULL;
    if (op == NULL)
        return dpi_onnx_fail(n, DP_EUNSUPPORTED, "this operator is not served");
    if (!check_attributes(n, op) || !find_operands(n, op))
        return false;
    if (!there(proto->output[0]))
        return dpi_onnx_fail(n, DP_EUNSUPPORTED, "only its first output is served");
    n->out = find(n->x, proto->output[0]);
    if (!op->run(n))
        return n->x->err.status != DP_OK ? false : dpi_onnx_fail(n, DP_ENOMEM, "out of memory");
    n->out->given = true;
    /* What two nodes read is computed once. */
    return n->out->uses == 1 || n->out->form == DPI_ONNX_STAGE || dpi_onnx_force(n, n->out) >= 0;
}

static bool is_needed(const dpi_onnx *x, const Onnx__NodeProto *node)
{
    for (size_t k = 0; k < node->n_output; k++)
        if (there(node->output[k]) && find(x, node->output[k])->uses > 0)
            return true;
    return false;
}

bool dpi_onnx_graph_read(dpi_onnx *x, const Onnx__ModelProto *model)
{
    if (!check_model(x, model) || !collect_names(x) || !find_input(x) || !count_uses(x))
        return false;
    dpi_onnx_node node = {.x = x};
    for (size_t i = 0; i < x->graph->n_node; i++) {
        if (!is_needed(x, x->graph->node[i]))
            continue;
        node = (dpi_onnx_node){.x = x, .proto = x->graph->node[i], .number = i};
        if (!run_node(&node))
            return false;
    }
    const dpi_onnx_value *out = x->output;
    if (!out->given || node.proto == NULL || out->constant != NULL || out->stored != NULL)
        return fail(x, DP_EUNSUPPORTED, "is its output, and is not computed from its input",
                    out->name);
    if (dpi_onnx_force(&node, x->output) < 0)
        return false;
    dp_program_answer(x->program, out->link, 1);
    return true;
}
