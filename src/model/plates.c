/* Plates: what a model has many of.  The unit plate has the size 0 and is the records; others are
 * public.  A guide has its model's plates, under the same numbers. */
#include "model/declare.h"

#include <string.h>

static int find_plate(const dp_model *m, const char *name)
{
    for (size_t i = 0; i < m->n_plates; i++)
        if (strcmp(m->plates[i].name, name) == 0)
            return (int)i + 1;
    return 0;
}

static dp_plate add_plate(dp_model *m, const char *name, size_t size)
{
    dp_plate none = {m, 0};
    if (!dpi_name_is_good(m, name))
        return none;
    /* A guide numbers its plates as its model does. */
    int number = m->of != NULL ? find_plate(m->of, name) : 0;
    if (m->of != NULL && (number == 0 || m->of->plates[number - 1].size != size)) {
        FAIL(m, DP_ENAME, "the guide's plate '%s' is not a plate of the model with the same size",
             name);
        return none;
    }
    if (number != 0)
        return (dp_plate){m, number};
    if (find_plate(m, name) != 0) {
        FAIL(m, DP_ENAME, "a plate '%s' exists already; keep the one that the first call returned",
             name);
        return none;
    }
    char *copy = dpi_arena_strdup(&m->arena, name);
    if (copy == NULL || !dpi_arena_grow(&m->arena, (void **)&m->plates, &m->plate_capacity,
                                        m->n_plates + 1, sizeof *m->plates)) {
        (void)dpi_fail_nomem(&m->err);
        return none;
    }
    m->plates[m->n_plates++] = (dpi_plate){copy, size};
    return (dp_plate){m, (int32_t)m->n_plates};
}

dp_plate dp_unit_plate_at(dp_model *m, const char *name, const char *file, int line)
{
    if (!dpi_enter(m, name, file, line))
        return (dp_plate){m, 0};
    for (size_t i = 0; i < m->n_plates; i++)
        if (m->plates[i].size == 0) {
            FAIL(m, DP_EPRIVACY,
                 "the model already has the unit plate '%s'; one record is one unit of "
                 "privacy, so there is one plate of records",
                 m->plates[i].name);
            return (dp_plate){m, 0};
        }
    return add_plate(m, name, 0);
}

dp_plate dp_plate_new_at(dp_model *m, const char *name, size_t size, const char *file, int line)
{
    if (!dpi_enter(m, name, file, line))
        return (dp_plate){m, 0};
    if (size == 0) {
        FAIL(m, DP_EINVAL,
             "plate '%s' has no members; give its public size, or use dp_unit_plate for "
             "the records",
             name);
        return (dp_plate){m, 0};
    }
    return add_plate(m, name, size);
}

const dpi_plate *dpi_get_plate(const dp_plate *plate)
{
    const dp_model *m = plate->model->of != NULL ? plate->model->of : plate->model;
    return plate->id >= 1 && (size_t)plate->id <= m->n_plates ? &m->plates[plate->id - 1] : NULL;
}

bool dpi_is_unit(const dp_plate *plate)
{
    const dpi_plate *p = dpi_get_plate(plate);
    return p != NULL && p->size == 0;
}

bool dpi_need_unit(const dp_plate *plate, const char *what)
{
    if (dpi_is_unit(plate))
        return true;
    FAIL(plate->model, DP_EINVAL, "%s belongs to the records; give it the plate of dp_unit_plate",
         what);
    return false;
}
