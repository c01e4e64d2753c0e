/* A model that is built and written down as C at once, so that the two cannot differ. */
#ifndef DPI_FORMULA_WRITER_H
#define DPI_FORMULA_WRITER_H

#include <tacit/model.h>
#include <tacit/multivariate.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "formula/prior.h"

/* An expression of the model, and the C that makes it. */
typedef struct dpi_value {
    dp_expr e;
    const char *c;
} dpi_value;

typedef struct dpi_written_law {
    dp_dist d;
    const char *c;
} dpi_written_law;

typedef struct dpi_groups {
    dp_plate plate;
    const char *c;
} dpi_groups;

typedef struct dpi_writer {
    dp_model *model;
    dpi_arena arena;  /* of the texts */
    dpi_bytes *lines; /* statements; NULL: nobody reads them */
    dp_plate rows;
    size_t names;                    /* of variables so far */
    struct dpi_read_column *columns; /* those that are read already */
    bool failed;                     /* memory was out */
} dpi_writer;

/* A number where an expression is wanted. */
dpi_value dpi_write_number(dpi_writer *w, double value);

/* Calls of one and two expressions: DPI_WRITE1(w, dp_exp, a). */
#define DPI_WRITE1(w, call, a) dpi_write_call(w, #call, call, a)
#define DPI_WRITE2(w, call, a, b) dpi_write_call2(w, #call, call, a, b)
dpi_value dpi_write_call(dpi_writer *w, const char *name, dp_expr (*call)(dp_expr), dpi_value a);
dpi_value dpi_write_call2(dpi_writer *w, const char *name, dp_expr (*call)(dp_expr, dp_expr),
                          dpi_value a, dpi_value b);

/* factor a; a itself for 1. */
dpi_value dpi_write_scaled(dpi_writer *w, double factor, dpi_value a);

/* Elements from ... from + n - 1. */
dpi_value dpi_write_slice(dpi_writer *w, dpi_value a, size_t from, size_t n);

/* A constant vector. */
dpi_value dpi_write_constant(dpi_writer *w, size_t n, const double *values);

/* a . b of n numbers each: a product where n is 1. */
dpi_value dpi_write_dot(dpi_writer *w, size_t n, dpi_value a, dpi_value b);

/* Gives what is computed a variable of its own, named after `hint`. */
dpi_value dpi_write_let(dpi_writer *w, const char *hint, dpi_value a);

/* Columns, each of which is read once, and plates of groups with the column that has a record's
 * groups, d of them. */
dpi_value dpi_write_data(dpi_writer *w, const char *name, size_t d);
dpi_groups dpi_write_plate(dpi_writer *w, const char *name, size_t size);
dpi_value dpi_write_indices(dpi_writer *w, const char *name, size_t d, dpi_groups groups);

/* Distributions. */
#define DPI_LAW1(w, call, a) dpi_write_law(w, #call, call, a)
#define DPI_LAW2(w, call, a, b) dpi_write_law2(w, #call, call, a, b)
dpi_written_law dpi_write_law(dpi_writer *w, const char *name, dp_dist (*call)(dp_expr),
                              dpi_value a);
dpi_written_law dpi_write_law2(dpi_writer *w, const char *name, dp_dist (*call)(dp_expr, dp_expr),
                               dpi_value a, dpi_value b);
dpi_written_law dpi_write_law3(dpi_writer *w, const char *name,
                               dp_dist (*call)(dp_expr, dp_expr, dp_expr), dpi_value a, dpi_value b,
                               dpi_value c);
/* An outcome of which a side may be known; one that counts up to `most` times. */
dpi_written_law dpi_write_censored(dpi_writer *w, dpi_written_law law, dpi_value side);
dpi_written_law dpi_write_weighted(dpi_writer *w, dpi_written_law law, dpi_value weight,
                                   double most);

/* A count, or a number above 0, with zeros of its own: dp_zero_inflated or dp_hurdle. */
#define DPI_WITH_ZEROS(w, call, law, logit) dpi_write_zeros(w, #call, call, law, logit)
dpi_written_law dpi_write_zeros(dpi_writer *w, const char *name, dp_dist (*call)(dp_dist, dp_expr),
                                dpi_written_law law, dpi_value logit);

dpi_written_law dpi_write_prior(dpi_writer *w, const dpi_prior *prior);

/* A latent of n numbers, global (groups NULL) or of each group; as a variable. */
dpi_value dpi_write_sample(dpi_writer *w, const dpi_groups *groups, const char *name, size_t n,
                           dpi_written_law law);

void dpi_write_deterministic(dpi_writer *w, const char *name, dpi_value a);
void dpi_write_observe(dpi_writer *w, const char *name, dpi_written_law law);

/* Text in the writer's arena; never NULL. */
const char *dpi_write_text(dpi_writer *w, const char *format, ...) DPI_PRINTF(2, 3);

/* A string of C, with its quotes. */
const char *dpi_write_string(dpi_writer *w, const char *text);

#endif
