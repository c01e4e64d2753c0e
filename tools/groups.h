/* The groups that effects of a fit's formula belong to, by the schema that the fit tells. */
#ifndef TOOLS_GROUPS_H
#define TOOLS_GROUPS_H

#include <tacit/fit.h>
#include <tacit/schema.h>

enum { MOST_GROUP_COLUMNS = 8, GROUP_ROOM = MOST_GROUP_COLUMNS * 202 };

/* Groups by one column, by all combinations of several, or by the levels that several share. */
typedef struct groups {
    const dp_column *by[MOST_GROUP_COLUMNS]; /* of the schema, which must outlive this */
    size_t n_by;                             /* 0: there are none */
    bool shared;                             /* mm(g, h) */
} groups;

/* The schema that the fit tells, for dp_schema_free; NULL where it tells none that can be read. */
dp_schema *groups_schema(const dp_fit *fit);

/* The groups of a quantity of that name and size, if it is "r_<groups>__<effect>"; none for a NULL
 * schema. */
groups groups_of(const dp_schema *schema, const char *name, size_t size);

/* How many there are. */
size_t groups_count(const groups *g);

/* Name of group k, "35" or "35:Y", and of all of them, "district" or "district:urban". */
void groups_level(const groups *g, size_t k, char text[GROUP_ROOM]);
void groups_title(const groups *g, char text[GROUP_ROOM]);

#endif
