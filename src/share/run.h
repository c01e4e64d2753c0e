/* Running a fixed program among the parties.
 *
 * A plan follows from the program's sheet alone, so that every party makes the same one; so do the
 * sizes and the order of all messages.  Numbers are those of dp_program_run_exact, to the bit,
 * unless the plan is probabilistic.
 *
 *   dpi_share_plan_new(sheet, &opts, &plan, &err);
 *   dpi_share_room_new(party, plan, &room, &err);
 *   dpi_share_run(party, plan, room, &model, layer, n, &x, &y); layer += dpi_share_layers(plan);
 *   dpi_mesh_verify(party->mesh); ... row->piece(party, ring, dpi_share_answer_bits(plan), &y) ...
 *
 * Threads: a plan is const and shareable; a room is for one thread. */
#ifndef DPI_SHARE_RUN_H
#define DPI_SHARE_RUN_H

#include <tacit/program.h>

#include "share/party.h"

typedef struct dpi_share_plan dpi_share_plan;
typedef struct dpi_share_room dpi_share_room;

typedef struct dpi_share_opts {
    size_t batch; /* records at once, at most; 0: 1 */
    size_t block; /* numbers of a comparison at once; 0: DPI_BLOCK.  Over slow links more */
    /* In 64 bits: a relu's shift is done by the linear stage before it where that is what the relu
     * alone reads: one round and some ten bits a number less.  The result is floor or ceiling of
     * the quotient, by chance of which the mean is the quotient, and wrong altogether with the
     * probability of 2^-24 at most. */
    bool probabilistic;
    /* The place of the largest output is the answer, or of a single output whether it is above
     * 0. */
    bool label;
} dpi_share_opts;

/* The plan of a program or a sheet, which is borrowed; opts NULL: all defaults.  *plan [out] NULL
 * on error.  DP_EUNSUPPORTED a stage cannot be computed so, which is named; DP_ESTATE it is not
 * fixed; DP_ENOMEM. */
dp_status dpi_share_plan_new(const dp_program *p, const dpi_share_opts *opts, dpi_share_plan **plan,
                             dp_error *err) DP_MUST_CHECK;
void dpi_share_plan_free(dpi_share_plan *plan);

/* Its numbers: of 32 bits where those of all stages have 30 at most, whatever the options. */
dpi_ring dpi_share_plan_ring(const dpi_share_plan *plan);
size_t dpi_share_answers(const dpi_share_plan *plan); /* numbers of the answer, of one record */
int dpi_share_answer_bits(
    const dpi_share_plan *plan); /* with the sign: what is told, and no more */
uint32_t dpi_share_layers(const dpi_share_plan *plan); /* that one run takes */

/* Whether a probabilistic plan of a program with weights is one: some shift rounds by chance, and
 * no number leaves its bounds by it.  *most [out] how far an answer may be off that of
 * dp_program_run_exact where nothing is wrong altogether; NaN on error.  DP_EUNSUPPORTED it is not,
 * with the stage; DP_ENOMEM. */
dp_status dpi_share_rounding(const dpi_share_plan *plan, double *most, dp_error *err) DP_MUST_CHECK;

/* Numbers of the model: weights and bias of each dense stage and convolution, stage after stage;
 * and all of them, of a program that is no sheet's. */
size_t dpi_share_model_size(const dp_program *p);
void dpi_share_model_numbers(const dp_program *p, int64_t *x);

/* What the party needs to run it, all of it.  DP_ENOMEM; *room NULL then. */
dp_status dpi_share_room_new(const dpi_party *p, const dpi_share_plan *plan, dpi_share_room **room,
                             dp_error *err) DP_MUST_CHECK;
void dpi_share_room_free(dpi_share_room *room);

/* Bytes of a party's room, about, when it holds so many parts of a number. */
size_t dpi_share_room_bytes(const dpi_share_plan *plan, size_t parts);

/* y[n][answers] of x[n][inputs], 1 <= n <= batch.  Layers layer ... layer + dpi_share_layers - 1 of
 * the mesh are used up.  Errors stick in the mesh.  Nothing is verified or told. */
void dpi_share_run(dpi_party *p, const dpi_share_plan *plan, dpi_share_room *room,
                   const dpi_share *model, uint32_t layer, size_t n, const dpi_share *x,
                   dpi_share *y);

/* Bytes that a role sends another, before and online, and rounds: how often P1 and P2 wait for each
 * other in turn. */
typedef struct dpi_share_cost {
    uint64_t prepared[DPI_SHARE_PARTIES][DPI_SHARE_PARTIES];
    uint64_t online[DPI_SHARE_PARTIES][DPI_SHARE_PARTIES];
    uint64_t rounds;
} dpi_share_cost;

/* What a run of n records costs through dpi_trio or dpi_quad, from the plan alone; without what is
 * given, told and compared.  DP_ENOMEM; zeros then. */
dp_status dpi_share_cost_of(const dpi_share_plan *plan, const dpi_share_row *row, size_t n,
                            dpi_share_cost *cost, dp_error *err) DP_MUST_CHECK;

#endif
