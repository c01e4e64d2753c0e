/* Networks of ONNX files as programs: the public call. */
#include <math.h>
#include <string.h>

#include "serve/onnx.h"

enum { SHOWN = 160 };

static const char *path_end(const char *path)
{
    size_t length = strlen(path);
    return length > SHOWN ? path + length - SHOWN : path;
}

static dp_status check_options(const dp_onnx_opts *opts, dp_error *err)
{
    if (opts == NULL || (opts->low == 0 && opts->high == 0))
        return dpi_fail(err, DP_EINVAL,
                        "bounds of the input have no default; set low and high to what its numbers "
                        "lie between");
    if (!(isfinite(opts->low) && isfinite(opts->high) && opts->low < opts->high))
        return dpi_fail(err, DP_EINVAL, "the bounds of the input, %g and %g, are not in order",
                        opts->low, opts->high);
    return DP_OK;
}

/* Ends an import, of which `model` is all or NULL. */
static dp_status finish(dpi_onnx *x, Onnx__ModelProto *model, dp_program **p, dp_error *err)
{
    x->program = model != NULL ? dp_program_new() : NULL;
    if (model != NULL && x->program == NULL)
        (void)dpi_fail_nomem(&x->err);
    if (x->program != NULL && dpi_onnx_graph_read(x, model))
        *p = x->program;
    else
        dp_program_free(x->program);
    dpi_onnx_model_free(model);
    dpi_arena_free(&x->arena);
    return x->err.status == DP_OK ? DP_OK : dpi_fail(err, x->err.status, "%s", x->err.text);
}

dp_status dpi_program_of_onnx(size_t n, const unsigned char *bytes, const dp_onnx_opts *opts,
                              dp_program **p, dp_error *err)
{
    *p = NULL;
    dp_status status = check_options(opts, err);
    dpi_onnx x = {.opts = opts, .file = "the file"};
    return status == DP_OK ? finish(&x, dpi_onnx_model_parse(&x, n, bytes), p, err) : status;
}

dp_status dp_program_of_onnx(const char *path, const dp_onnx_opts *opts, dp_program **p,
                             dp_error *err)
{
    *p = NULL;
    dp_status status = check_options(opts, err);
    dpi_onnx x = {.opts = opts, .file = path_end(path)};
    return status == DP_OK ? finish(&x, dpi_onnx_model_read(&x, path), p, err) : status;
}
