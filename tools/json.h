/* Writing one JSON object.  Numbers are written with all their digits; what is not finite is
 * null. */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct json {
    FILE *out;
    int items; /* members of the object or list so far */
} json;

json json_begin(FILE *out);
void json_number(json *j, const char *name, double value);
void json_count(json *j, const char *name, unsigned long long value);
void json_truth(json *j, const char *name, bool value);
void json_text(json *j, const char *name, const char *value); /* NULL is null */

/* A list of texts, of numbers or of objects: json_list, members with name NULL, json_end_list. */
void json_list(json *j, const char *name);
void json_end_list(json *j);
void json_object(json *j, const char *name); /* name NULL: a member of a list */
void json_end_object(json *j);

void json_end(json *j); /* with a line end */

#endif
