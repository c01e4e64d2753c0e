/* The bytes of an ONNX file, which may be anybody's, to the messages of its schema.
 *
 * protobuf-c follows nested messages by recursion and allocates what lengths and counts in the file
 * ask for.  So the nesting is measured first, without recursion beyond its limit, and what is
 * allocated has a limit that follows from the file's size: a file that is what it should be needs
 * once its size and a little for each node. */
#include <stdio.h>
#include <string.h>

#include "serve/onnx.h"

enum { NESTING = 24, FIRST_BLOCK = 1 << 16 };

#define MOST_BYTES ((size_t)1 << 28)
#define SPARE_BYTES ((size_t)1 << 26)

/* ---- the file ---- */

static bool enlarge(unsigned char **block, size_t *room, size_t most)
{
    size_t wanted = *room > most / 2 ? most : *room * 2;
    unsigned char *larger = dpi_alloc(wanted, 1);
    if (larger == NULL)
        return false;
    memcpy(larger, *block, *room);
    dpi_free(*block);
    *block = larger;
    *room = wanted;
    return true;
}

/* Reads to the end of the file, whose size may change meanwhile. */
static unsigned char *read_all(dpi_onnx *x, FILE *file, size_t most, size_t *size)
{
    size_t room = FIRST_BLOCK;
    unsigned char *block = dpi_alloc(room, 1);
    *size = 0;
    while (block != NULL) {
        size_t got = fread(block + *size, 1, room - *size, file);
        *size += got;
        if (*size > most) {
            (void)dpi_fail(&x->err, DP_EDATA, "%s is larger than %zu bytes; raise max_bytes",
                           x->file, most);
            break;
        }
        if (got == 0 && ferror(file)) {
            (void)dpi_fail(&x->err, DP_EIO, "cannot read %s; check that it is a file", x->file);
            break;
        }
        if (got == 0)
            return block;
        if (*size == room && !enlarge(&block, &room, most + 1))
            break;
    }
    (void)dpi_fail_nomem(&x->err);
    dpi_free(block);
    return NULL;
}

/* ---- nesting ---- */

static bool read_varint(const unsigned char **at, const unsigned char *end, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 64 && *at < end; shift += 7) {
        unsigned char byte = *(*at)++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static const ProtobufCFieldDescriptor *field_of(const ProtobufCMessageDescriptor *message,
                                                uint64_t id)
{
    for (unsigned i = 0; i < message->n_fields; i++)
        if (message->fields[i].id == id)
            return &message->fields[i];
    return NULL;
}

/* Whether the bytes are fields of that message and of those in it, not too deep. */
static bool well_formed(const ProtobufCMessageDescriptor *message, const unsigned char *at,
                        const unsigned char *end, int depth)
{
    while (at < end) {
        uint64_t key, length = 0;
        if (!read_varint(&at, end, &key))
            return false;
        switch (key & 7) {
        case PROTOBUF_C_WIRE_TYPE_VARINT:
            if (!read_varint(&at, end, &length))
                return false;
            continue;
        case PROTOBUF_C_WIRE_TYPE_64BIT:
            length = 8;
            break;
        case PROTOBUF_C_WIRE_TYPE_32BIT:
            length = 4;
            break;
        case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED:
            if (!read_varint(&at, end, &length))
                return false;
            break;
        default:
            return false;
        }
        if (length > (uint64_t)(end - at))
            return false;
        const ProtobufCFieldDescriptor *field = field_of(message, key >> 3);
        if ((key & 7) == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED && field != NULL &&
            field->type == PROTOBUF_C_TYPE_MESSAGE &&
            (depth == NESTING || !well_formed(field->descriptor, at, at + length, depth + 1)))
            return false;
        at += length;
    }
    return true;
}

/* ---- messages ---- */

typedef struct allowance {
    size_t left;
    bool over, failed;
} allowance;

/* What is freed on the way is not given back: what a good file frees is little. */
static void *allocate(void *data, size_t size)
{
    allowance *a = data;
    if (size > a->left) {
        a->over = true;
        return NULL;
    }
    a->left -= size;
    void *block = dpi_alloc(size, 1);
    a->failed = a->failed || block == NULL;
    return block;
}

static void release(void *data, void *block)
{
    (void)data;
    dpi_free(block);
}

Onnx__ModelProto *dpi_onnx_model_parse(dpi_onnx *x, size_t n, const unsigned char *bytes)
{
    allowance a = {.left = 4 * n + SPARE_BYTES};
    ProtobufCAllocator allocator = {allocate, release, &a};
    x->most = 8 * n + 2 * SPARE_BYTES;
    Onnx__ModelProto *model = NULL;
    if (well_formed(&onnx__model_proto__descriptor, bytes, bytes + n, 0))
        model = onnx__model_proto__unpack(&allocator, n, bytes);
    if (model == NULL && a.failed)
        (void)dpi_fail_nomem(&x->err);
    else if (model == NULL)
        (void)dpi_fail(&x->err, DP_EDATA, "%s is no ONNX file%s", x->file,
                       a.over ? ": it asks for more memory than its size explains"
                              : ", is cut short or is nested too deep; export the network again");
    return model;
}

Onnx__ModelProto *dpi_onnx_model_read(dpi_onnx *x, const char *path)
{
    size_t size, most = x->opts->max_bytes > 0 ? x->opts->max_bytes : MOST_BYTES;
    if ((uint64_t)most > (uint64_t)MOST_BYTES * 16) {
        (void)dpi_fail(&x->err, DP_EINVAL, "max_bytes is at most 2^32");
        return NULL;
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        (void)dpi_fail(&x->err, DP_EIO, "cannot open %s; check the path and your right to read it",
                       x->file);
        return NULL;
    }
    unsigned char *bytes = read_all(x, file, most, &size);
    (void)fclose(file);
    Onnx__ModelProto *model = bytes != NULL ? dpi_onnx_model_parse(x, size, bytes) : NULL;
    dpi_free(bytes);
    return model;
}

void dpi_onnx_model_free(Onnx__ModelProto *model)
{
    ProtobufCAllocator allocator = {allocate, release, NULL};
    if (model != NULL)
        onnx__model_proto__free_unpacked(model, &allocator);
}
