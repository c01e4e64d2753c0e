/* What the models share: the end of a model, and names that are made of parts. */
#ifndef MODELS_BUILD_H
#define MODELS_BUILD_H

#include <tacit/models.h>

/* Longest name that is made of a caller's and an ending. */
enum { MODEL_NAME = 256, MODEL_LAYERS = 64 };

/* Hands over the finished model, or its first error and NULL. */
dp_status dpi_model_finish(dp_model *made, dp_model **m, dp_error *err);

/* DP_EINVAL with this message. */
dp_status dpi_model_refuse(dp_error *err, const char *why);

/* `given`, or `usual` where it is 0. */
double dpi_or_default(double given, double usual);

/* "W3" of "W" and 3. */
const char *dpi_layer_name(char name[MODEL_NAME], const char *stem, size_t layer);

/* x W + b with W [from][to] and b [to], starting as told and at 0. */
dp_expr dpi_dense_layer(dp_expr x, const char *weight, const char *bias, dp_extent extent,
                        dp_init init);

dp_expr dpi_activate(dp_activation activation, dp_expr a);

/* Names logits and class_probability, and observes y. */
void dpi_classify(dp_plate rows, dp_expr logits);

#endif
