/* What tacit plan works with, and its parts. */
#ifndef TOOLS_FORECAST_H
#define TOOLS_FORECAST_H

#include <tacit/plan.h>

#include "tools/modelling.h"

enum { FORECAST_NAME = 256, FORECAST_WISHES = 256 };

/* A 90 % interval as wide as that at most. */
typedef struct forecast_wish {
    char latent[FORECAST_NAME], name[FORECAST_NAME]; /* as the model has it, as people do */
    double width, unit;                              /* of what has the name */
} forecast_wish;

typedef struct forecast {
    modelling m;
    size_t records;
    dp_table *table;
    dp_dataset *data;
    dp_rng *rng;
    dp_plan *plan;
    const dp_plan_number *number; /* [n] */
    size_t n;
    double reading; /* seconds that reading one record took */
    forecast_wish wish[FORECAST_WISHES];
    dp_plan_wish asked[FORECAST_WISHES]; /* the same for the plan */
    size_t n_wishes;
} forecast;

/* In standard deviations, how wide the interval from 5 % to 95 % is. */
extern const double forecast_width;

/* A latent's number by the name that people know, and its unit there, above 0. */
double forecast_name(const forecast *f, const char *latent, char name[FORECAST_NAME]);

/* Whether it is a slope, "b_age": what is not the intercept of something. */
bool forecast_is_slope(const char *name);

/* Reads --width: a number for each slope, or "b_age = 0.1; b_urbanY = 0.5".  False with a
 * message. */
bool forecast_read_wishes(forecast *f, message *why);

/* Bytes of memory that tacit fit takes of so many records, about. */
double forecast_bytes(const forecast *f);

/* On standard output. */
void forecast_tell(const forecast *f);
void forecast_tell_json(const forecast *f);

/* Writes the picture that --picture names.  False with a message. */
bool forecast_draw(const forecast *f, message *why);

#endif
