/* What the declaring calls share: names, plates, sites. */
#ifndef DPI_MODEL_DECLARE_H
#define DPI_MODEL_DECLARE_H

#include "model/model.h"

/* Sets the model's error: "file:line: text", with the caller's place. */
#define FAIL(m, status, text, ...)                                                                 \
    ((void)dpi_fail(&(m)->err, status, "%s:%d: " text, (m)->graph.where.file,                      \
                    (m)->graph.where.line, __VA_ARGS__))

/* The same of a call that has no place of its own: "after file:line: text", the last place that the
 * model has, if any. */
#define FAIL_AFTER(m, status, text, ...)                                                           \
    ((void)dpi_fail(&(m)->err, status, "after %s:%d: " text,                                       \
                    (m)->graph.where.file != NULL ? (m)->graph.where.file : "model",               \
                    (m)->graph.where.line, __VA_ARGS__))

/* Remembers the caller's place; false when the model already has an error. */
bool dpi_enter(dp_model *m, const char *name, const char *file, int line);

dp_expr dpi_expression(dp_model *m, dpi_id id);

/* ---- names ---- */

/* The source of that name, or DPI_NONE. */
dpi_id dpi_find_source(const dp_model *m, const char *name);

/* False, with an error that does not repeat the name, when it is none that messages and files can
 * hold. */
bool dpi_name_is_good(dp_model *m, const char *name);

/* False, with an error, when the name is not good or stands for something already. */
bool dpi_name_is_new(dp_model *m, const char *name);

/* ---- plates ---- */

/* NULL when it is none of the model's. */
const dpi_plate *dpi_get_plate(const dp_plate *plate);

bool dpi_is_unit(const dp_plate *plate);

/* False, with an error, unless `plate` is the plate of records. */
bool dpi_need_unit(const dp_plate *plate, const char *what);

/* ---- columns ---- */

bool dpi_is_observed(const dp_model *m, const char *name);

/* The node of a column that is read and observed: found under its name, or DPI_NONE.  False, with
 * an error, when the two do not agree. */
bool dpi_same_column(dp_model *m, const char *name, const dpi_op *op, const dpi_attr *attr,
                     dpi_id *id);

/* ---- sites ---- */

/* Appends a site whose value and name are in place; DPI_NONE on error. */
dpi_id dpi_append_site(dp_model *m, dpi_site site);

/* A site whose value is a new source, or the node `value` where that is not DPI_NONE. */
dpi_id dpi_add_site(dp_model *m, dpi_site site, const dpi_op *op, dpi_attr attr);

/* The shape of n numbers in a plate, or outside plates when plate is NULL. */
bool dpi_site_shape(dp_model *m, const dp_plate *plate, const char *name, size_t n,
                    dpi_shape *shape);

#endif
