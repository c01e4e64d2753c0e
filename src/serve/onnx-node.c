/* What a node is given: attributes, constants, computed values. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "serve/onnx.h"

bool dpi_onnx_fail(dpi_onnx_node *n, dp_status status, const char *format, ...)
{
    char text[320], name[DPI_ONNX_WORD], type[DPI_ONNX_WORD];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)dpi_onnx_word(n->proto->name, name);
    (void)dpi_onnx_word(n->proto->op_type, type);
    if (name[0] != '\0')
        (void)dpi_fail(&n->x->err, status, "node '%s' (%s): %s", name, type, text);
    else
        (void)dpi_fail(&n->x->err, status, "node %zu (%s): %s", n->number, type, text);
    return false;
}

/* ---- attributes ---- */

const Onnx__AttributeProto *dpi_onnx_attribute(const dpi_onnx_node *n, const char *name)
{
    for (size_t i = 0; i < n->proto->n_attribute; i++) {
        const Onnx__AttributeProto *a = n->proto->attribute[i];
        if (a->name != NULL && strcmp(a->name, name) == 0)
            return a;
    }
    return NULL;
}

static bool wrong_kind(dpi_onnx_node *n, const char *name, const char *kind)
{
    return dpi_onnx_fail(n, DP_EDATA, "its attribute %s is not %s", name, kind);
}

bool dpi_onnx_int(dpi_onnx_node *n, const char *name, int64_t otherwise, int64_t *value)
{
    const Onnx__AttributeProto *a = dpi_onnx_attribute(n, name);
    *value = a != NULL ? a->i : otherwise;
    return a == NULL || a->has_i || wrong_kind(n, name, "an integer");
}

bool dpi_onnx_ints(dpi_onnx_node *n, const char *name, size_t count, int64_t otherwise,
                   int64_t *values)
{
    const Onnx__AttributeProto *a = dpi_onnx_attribute(n, name);
    if (a != NULL && a->n_ints != count)
        return dpi_onnx_fail(n, DP_EUNSUPPORTED,
                             "its attribute %s has %zu integers where an image needs %zu", name,
                             a->n_ints, count);
    for (size_t i = 0; i < count; i++)
        values[i] = a != NULL ? a->ints[i] : otherwise;
    return true;
}

bool dpi_onnx_real(dpi_onnx_node *n, const char *name, double otherwise, double *value)
{
    const Onnx__AttributeProto *a = dpi_onnx_attribute(n, name);
    *value = a != NULL ? (double)a->f : otherwise;
    return a == NULL || (a->has_f && isfinite(*value)) || wrong_kind(n, name, "a finite number");
}

bool dpi_onnx_text(dpi_onnx_node *n, const char *name, const char *otherwise, char text[16])
{
    const Onnx__AttributeProto *a = dpi_onnx_attribute(n, name);
    size_t length = a == NULL ? strlen(otherwise) : a->s.len;
    if ((a != NULL && !a->has_s) || length > 15)
        return wrong_kind(n, name, "one of its words");
    if (length > 0)
        memcpy(text, a == NULL ? (const unsigned char *)otherwise : a->s.data, length);
    text[length] = '\0';
    return true;
}

bool dpi_onnx_only(dpi_onnx_node *n, const char *name, int64_t only)
{
    int64_t value;
    if (!dpi_onnx_int(n, name, only, &value))
        return false;
    if (value != only)
        return dpi_onnx_fail(n, DP_EUNSUPPORTED, "%s = %lld is not served, only %lld", name,
                             (long long)value, (long long)only);
    return true;
}

/* ---- operands ---- */

bool dpi_onnx_has(const dpi_onnx_node *n, size_t k)
{
    return k < n->n_in && n->in[k] != NULL;
}

static const dpi_onnx_tensor *constant(dpi_onnx_node *n, size_t k)
{
    char word[DPI_ONNX_WORD], what[DPI_ONNX_WORD + 16];
    dpi_onnx_value *v = dpi_onnx_has(n, k) ? n->in[k] : NULL;
    if (v == NULL)
        (void)dpi_onnx_fail(n, DP_EDATA, "its input %zu is left out", k + 1);
    else if (v->constant == NULL && v->stored == NULL)
        (void)dpi_onnx_fail(n, DP_EUNSUPPORTED,
                            "its input %zu, '%s', is computed; only a constant is served there",
                            k + 1, dpi_onnx_word(v->name, word));
    else if (v->constant == NULL) {
        (void)snprintf(what, sizeof what, "constant '%s'", dpi_onnx_word(v->name, word));
        v->constant = dpi_onnx_tensor_read(n->x, v->stored, what);
    }
    return v != NULL ? v->constant : NULL;
}

const dpi_onnx_tensor *dpi_onnx_reals(dpi_onnx_node *n, size_t k)
{
    const dpi_onnx_tensor *t = constant(n, k);
    if (t == NULL || t->real)
        return t;
    (void)dpi_onnx_fail(n, DP_EDATA, "its input %zu is not of float, double or float16", k + 1);
    return NULL;
}

const dpi_onnx_tensor *dpi_onnx_whole(dpi_onnx_node *n, size_t k)
{
    const dpi_onnx_tensor *t = constant(n, k);
    if (t == NULL || !t->real)
        return t;
    (void)dpi_onnx_fail(n, DP_EDATA, "its input %zu is not of integers", k + 1);
    return NULL;
}

dpi_onnx_value *dpi_onnx_computed(dpi_onnx_node *n, size_t k)
{
    dpi_onnx_value *v = dpi_onnx_has(n, k) ? n->in[k] : NULL;
    if (v == NULL || v->constant != NULL || v->stored != NULL) {
        (void)dpi_onnx_fail(n, DP_EUNSUPPORTED,
                            v == NULL ? "its input %zu is left out"
                                      : "its input %zu is a constant where one that is computed is "
                                        "served; fold constants when the network is exported",
                            k + 1);
        return NULL;
    }
    if (v->link != DP_LINK_IDENTITY || v->place) {
        (void)dpi_onnx_fail(n, DP_EUNSUPPORTED,
                            "it follows a Softmax or ArgMax, after which nothing is computed");
        return NULL;
    }
    return v;
}
