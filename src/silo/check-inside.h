/* What the files of the check share. */
#ifndef DPI_SILO_CHECK_INSIDE_H
#define DPI_SILO_CHECK_INSIDE_H

#include "base/compiler.h"
#include "silo/check.h"
#include "silo/labels.h"
#include "silo/split.h"

enum { MOST_LETTERS = 64 };

/* What one party has sent another. */
typedef struct dpi_letter_bag {
    size_t n;
    struct letter {
        uint16_t reg; /* of the sender */
        bool taken, once;
        dpi_label label;
    } * letters; /* [MOST_LETTERS], made with the first */
} dpi_letter_bag;

typedef struct dpi_joint_check {
    const dpi_silo_program *p;
    const dpi_silo_scheme *scheme;
    const dpi_silo_part *parts;
    dpi_arena *arena;
    dpi_labels *values[DPI_SILO_PARTIES]; /* [n_registers] */
    size_t at[DPI_SILO_PARTIES];          /* the next step */
    dpi_letter_bag *bags;                 /* [n][n], of sender and receiver */
    size_t n_views, view_room;
    dpi_silo_view *views;
    dp_error *err;
} dpi_joint_check;

/* Whether a party is in a set, and the set of one party. */
DPI_INLINE bool dpi_check_in(uint64_t set, size_t k)
{
    return (set >> k & 1) != 0;
}

DPI_INLINE uint64_t dpi_check_only(size_t k)
{
    return (uint64_t)1 << k;
}

DPI_INLINE const char *dpi_check_party(const dpi_joint_check *c, size_t k)
{
    return c->p->who.names[k];
}

/* The first party of a set, for messages. */
const char *dpi_check_first(const dpi_joint_check *c, uint64_t set);

/* Refuses a register of party k. */
dp_status dpi_check_refuse(const dpi_joint_check *c, size_t k, uint16_t reg, const char *what,
                           const char *more);

/* A value that has come to party k from elsewhere, or was opened there: DP_EPRIVACY where it may
 * not be seen, else it is listed.  Sets l->named. */
dp_status dpi_check_look(dpi_joint_check *c, size_t k, uint16_t reg, dpi_label *l) DP_MUST_CHECK;

/* The label of what an owner has come to by releases of its own. */
dp_status dpi_check_release_alone(const dpi_joint_check *c, size_t k, const dpi_silo_step *s,
                                  dpi_label *l) DP_MUST_CHECK;

/* The label of what is opened at party k: the sum of everybody's vectors; one's own part of a block
 * and the other's answer.  *l has what it follows from. */
dp_status dpi_check_open_sum(dpi_joint_check *c, size_t k, const dpi_silo_step *s,
                             dpi_label *l) DP_MUST_CHECK;
dp_status dpi_check_open_block(dpi_joint_check *c, size_t k, const dpi_silo_step *s,
                               dpi_label *l) DP_MUST_CHECK;

/* The label of the gradient of one owner's half of a model.  *l has what it follows from. */
void dpi_check_slope(const dpi_joint_check *c, size_t k, const dpi_silo_step *s, dpi_label *l);

/* The label of what a step of shares makes.  *l has what it follows from. */
dp_status dpi_check_shares(dpi_joint_check *c, size_t k, const dpi_silo_step *s,
                           dpi_label *l) DP_MUST_CHECK;

/* Whether the account has releases of a variable, and all of them with noise: of one owner alone,
 * or of shares of all. */
bool dpi_check_is_accounted(const dpi_joint_check *c, uint16_t variable, bool alone);

#endif
