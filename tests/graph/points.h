/* Test points of the operation table: which shapes and values each operation is tried at.  Tests
 * walk dpi_ops and fail for an operation with inputs that has no point here. */
#ifndef TESTS_GRAPH_POINTS_H
#define TESTS_GRAPH_POINTS_H

#include "tests/graph/naive.h"
#include "tests/lib/check.h"

enum { POINT_RECORDS = 3, WORLD_INPUTS = 8 };

/* One operation at inputs of some shapes.  Shapes are written "" (a number), "3", "2x3", with a
 * leading '*' when per-record; "?" stands for "", "3", "2x3" and the same per record, in turn. */
typedef struct point {
    const dpi_op *op;
    const char *a, *b;  /* b: NULL where the operation has one input */
    double range[2][2]; /* the inputs' values lie here */
    dpi_attr attr;
    const char *to;  /* attr.shape, or NULL */
    size_t groups;   /* b is a group number below this; 0: b is a real input */
    double step;     /* unit of the steps of differences; 0: the input's own size */
    double diagonal; /* added to the diagonal of the matrix a */
} point;

/* All points, "?" written out; *list is to be freed. */
size_t points_all(point **list);

dpi_shape point_shape(const char *text);

/* A graph with inputs and their values, and perhaps the operation of a point. */
typedef struct world {
    dpi_arena arena;
    dp_error err;
    dpi_graph g;
    naive *e;
    dpi_id in[WORLD_INPUTS], y;
    size_t n_real; /* the first so many inputs are real: differentiable */
    double step;
    char text[160];
} world;

void world_new(world *w);
void world_free(world *w);

/* An input with values spread over low ... high, different for each name. */
dpi_id world_input(world *w, const char *name, dpi_shape shape, double low, double high);

/* An input with group numbers. */
dpi_id world_groups(world *w, const char *name, dpi_shape shape, size_t groups);

/* A constant array (or number) with such values. */
dpi_id world_constant(world *w, const char *name, dpi_shape shape, double low, double high);

/* world_new, with the inputs and the operation of the point. */
void world_of_point(world *w, const point *p);

/* The values of nodes as the library computes them, chunk records at a time (sums over records are
 * those of all records): out[k][n or 1][size], to be freed with free. */
void world_run(world *w, size_t n_wanted, const dpi_id *wanted, size_t chunk, double **out);

#endif
