/* The groups that effects of a formula's fit belong to, and their names by the schema: effect k of
 * "r_district__Intercept" is that of the k-th district, as the schema lists them.
 *
 *   dp_groups by = dp_groups_of(schema, q->name, q->size);
 *   if (by.n_by > 0) dp_groups_level(&by, k, sizeof text, text);   "35", or "35:Y"
 *
 * Threads: calls only read. */
#ifndef TACIT_GROUPS_H
#define TACIT_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/export.h>
#include <tacit/fit.h>
#include <tacit/schema.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DP_GROUP_COLUMNS = 8,
    DP_GROUP_ROOM = DP_GROUP_COLUMNS * 202 /* bytes that any name takes, with its end */
};

/* Groups by one column, by all combinations of several, or by the levels that several share. */
typedef struct dp_groups {
    const dp_column *by[DP_GROUP_COLUMNS]; /* of the schema, which must outlive this */
    size_t n_by;                           /* 0: there are none */
    bool shared;                           /* mm(g, h) */
} dp_groups;

/* The schema that the fit's source tells, for dp_schema_free; NULL where there is none, or none
 * that can be read. */
DP_API dp_schema *dp_groups_schema(const dp_fit *fit);

/* The groups of a quantity of that name and size, if it is "r_<groups>__<effect>"; none for a NULL
 * schema. */
DP_API dp_groups dp_groups_of(const dp_schema *schema, const char *name, size_t size);

/* How many there are. */
DP_API size_t dp_groups_count(const dp_groups *groups);

/* Name of group k < dp_groups_count, "35" or "35:Y", and of all of them, "district" or
 * "district:urban", into text[room]; cut where there is no more room. */
DP_API void dp_groups_level(const dp_groups *groups, size_t k, size_t room, char *text);
DP_API void dp_groups_title(const dp_groups *groups, size_t room, char *text);

#ifdef __cplusplus
}
#endif
#endif
