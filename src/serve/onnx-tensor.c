/* Constants of the file. */
#include <math.h>
#include <string.h>

#include "serve/onnx.h"

void *dpi_onnx_alloc(dpi_onnx *x, size_t count, size_t size)
{
    size_t bytes;
    if (!dpi_mul(count, size, &bytes) || bytes > x->most - x->taken) {
        (void)dpi_fail(&x->err, DP_EUNSUPPORTED,
                       "%s: its nodes need more memory than its size explains; fold its constants "
                       "when the network is exported",
                       x->file);
        return NULL;
    }
    x->taken += bytes;
    void *block = dpi_arena_alloc(&x->arena, count, size);
    if (block == NULL)
        (void)dpi_fail_nomem(&x->err);
    return block;
}

const char *dpi_onnx_word(const char *name, char word[DPI_ONNX_WORD])
{
    size_t i = 0;
    for (; name != NULL && i < DPI_ONNX_WORD - 1 && name[i] != '\0'; i++)
        word[i] = (char)(name[i] >= ' ' && name[i] <= '~' ? name[i] : '?');
    word[i] = '\0';
    return word;
}

/* ---- numbers ---- */

static uint64_t little_end(const unsigned char *at, size_t n)
{
    uint64_t bits = 0;
    for (size_t i = n; i-- > 0;)
        bits = bits << 8 | at[i];
    return bits;
}

static double of_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double of_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* IEEE 754 binary16: 1, 5 and 10 bits. */
static double of_half(uint32_t bits)
{
    int exponent = (int)(bits >> 10 & 31);
    double fraction = bits & 1023, sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31)
        return fraction > 0 ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, -24);
    return sign * ldexp(1024 + fraction, exponent - 25);
}

static double of_bits(int32_t type, uint64_t bits)
{
    switch (type) {
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT:
        return of_float((uint32_t)bits);
    case ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE:
        return of_double(bits);
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16:
        return of_half((uint32_t)bits);
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT64:
        return (double)(int64_t)bits;
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT32:
        return (double)(int32_t)(uint32_t)bits;
    default:
        return bits != 0;
    }
}

/* Bytes of a number in raw data; 0: a type that is not taken. */
static size_t width_of(int32_t type)
{
    switch (type) {
    case ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE:
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT64:
        return 8;
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT:
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT32:
        return 4;
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16:
        return 2;
    case ONNX__TENSOR_PROTO__DATA_TYPE__BOOL:
        return 1;
    default:
        return 0;
    }
}

/* How many numbers the field has in which a tensor of that type keeps them. */
static size_t count_of(const Onnx__TensorProto *t)
{
    if (t->has_raw_data)
        return t->raw_data.len % width_of(t->data_type) == 0
                   ? t->raw_data.len / width_of(t->data_type)
                   : SIZE_MAX;
    switch (t->data_type) {
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT:
        return t->n_float_data;
    case ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE:
        return t->n_double_data;
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT64:
        return t->n_int64_data;
    default:
        return t->n_int32_data;
    }
}

static double number_at(const Onnx__TensorProto *t, size_t i)
{
    size_t width = width_of(t->data_type);
    if (t->has_raw_data)
        return of_bits(t->data_type, little_end(t->raw_data.data + i * width, width));
    switch (t->data_type) {
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT:
        return t->float_data[i];
    case ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE:
        return t->double_data[i];
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT64:
        return (double)t->int64_data[i];
    default:
        return of_bits(t->data_type, (uint32_t)t->int32_data[i]);
    }
}

/* ---- tensors ---- */

static const char *read_dims(const Onnx__TensorProto *t, dpi_onnx_tensor *to)
{
    if (t->n_dims > DPI_ONNX_RANK)
        return "has more than 8 dimensions";
    to->rank = t->n_dims;
    to->n = 1;
    for (size_t i = 0; i < to->rank; i++) {
        if (t->dims[i] < 1 || t->dims[i] > INT32_MAX)
            return "has a dimension that is not from 1 to 2^31 - 1";
        to->dims[i] = (size_t)t->dims[i];
        if (!dpi_mul(to->n, to->dims[i], &to->n))
            return "has more numbers than memory has room for";
    }
    return NULL;
}

static const char *check(const Onnx__TensorProto *t)
{
    if (t->n_external_data > 0 ||
        (t->has_data_location && t->data_location != ONNX__TENSOR_PROTO__DATA_LOCATION__DEFAULT))
        return "keeps its numbers in another file; save the network as one file";
    if (t->segment != NULL)
        return "is stored in segments; save it whole";
    if (!t->has_data_type || width_of(t->data_type) == 0)
        return "is of a type that is not taken; use float, double or float16, and int64 for shapes";
    return NULL;
}

static const char *read_numbers(const Onnx__TensorProto *t, dpi_onnx_tensor *to)
{
    const double exact = 9007199254740992.0; /* 2^53: integers up to here are doubles */
    for (size_t i = 0; i < to->n; i++) {
        to->x[i] = number_at(t, i);
        if (!isfinite(to->x[i]))
            return "has a number that is not finite";
        if (!to->real && fabs(to->x[i]) > exact)
            return "has an integer beyond 2^53";
    }
    return NULL;
}

dpi_onnx_tensor *dpi_onnx_tensor_read(dpi_onnx *x, const Onnx__TensorProto *t, const char *what)
{
    dpi_onnx_tensor *to = dpi_onnx_alloc(x, 1, sizeof *to);
    if (to == NULL)
        return NULL;
    const char *wrong = check(t);
    if (wrong == NULL)
        wrong = read_dims(t, to);
    if (wrong == NULL && count_of(t) != to->n)
        wrong = "has more or fewer numbers than its dimensions say";
    if (wrong == NULL) {
        to->real = t->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT ||
                   t->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE ||
                   t->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16;
        to->x = dpi_onnx_alloc(x, to->n, sizeof *to->x);
        if (to->x == NULL)
            return NULL;
        wrong = read_numbers(t, to);
    }
    if (wrong != NULL)
        (void)dpi_fail(&x->err, DP_EDATA, "%s %s", what, wrong);
    return wrong == NULL ? to : NULL;
}
