/* A fit that three owners make, to plant one mistake in: before it is split, or after. */
#ifndef TESTS_SILO_CHECK_SCENE_H
#define TESTS_SILO_CHECK_SCENE_H

#include "silo/check.h"
#include "silo/joint.h"
#include "silo/split.h"

enum { OWNERS = 3, NORTH = 0, SOUTH = 1, WEST = 2, MOST_RULES = 8, MOST_STEPS = 96 };

typedef struct check_scene {
    dpi_silo_parties who;
    dpi_silo_program program;
    dpi_silo_rule rules[MOST_RULES];
    dpi_silo_scheme scheme;
    dpi_silo_part parts[DPI_SILO_PARTIES];
    dpi_silo_step steps[OWNERS][MOST_STEPS];
    dpi_silo_register registers[OWNERS][32];
    dpi_arena arena;
    size_t n_views;
    dpi_silo_view *views;
    dp_error err;
} check_scene;

/* The program of a fit, with the rules of a scheme, which can be changed. */
void scene_begin(check_scene *s, const char *scheme);

/* The same, split: its parts can be changed. */
void scene_parts(check_scene *s, const char *scheme);

/* The same of another kind, or for other parties. */
void scene_join(check_scene *s, dpi_joint_kind kind);

/* The program of a regression of columns of north and south, likewise. */
void scene_columns(check_scene *s, const char *scheme, double z);

/* The program of split learning of columns of north, who has outcomes, and south. */
void scene_split_learning(check_scene *s);

/* The program of a regression in shares of columns of north and south, whom west helps; likewise,
 * without noise where z is 0. */
void scene_shares(check_scene *s, const char *scheme, double z);

/* Splits it, so that parts can be changed; checks it; and frees it. */
dp_status scene_split(check_scene *s);
dp_status scene_check(check_scene *s);
void scene_end(check_scene *s);

/* It was refused, and the message names the party, the variable, and what is wrong; frees it. */
void scene_refused(check_scene *s, dp_status status, const char *party, const char *variable,
                   const char *what);

/* What can be changed. */
dpi_silo_rule *scene_rule(check_scene *s, const char *op);
uint16_t scene_register(const check_scene *s, size_t k, const char *name);
size_t scene_step(const check_scene *s, size_t k, dpi_silo_step_kind kind);
void scene_insert(check_scene *s, size_t k, size_t at, dpi_silo_step step);
void scene_take_out(check_scene *s, size_t k, size_t at);

/* A letter from one party to another, where each has that kind of step. */
void scene_letter(check_scene *s, const char *name, size_t from, dpi_silo_step_kind behind,
                  size_t to, dpi_silo_step_kind before);

#endif
