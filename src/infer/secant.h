/* Rounds whose scores differ by more or less than they should tell how much information there is on
 * the way.
 *
 * The way to the answer begins at the medians of the prior, and the information is that of there.
 * Where it is far less than on the way, as that of cutpoints beyond all outcomes is, each round
 * goes too far and the next one as far back; where it is far more, as that of counts whose mean is
 * taken for ten times what it is, rounds creep.  A score S that points back along the last move m,
 * m'S < 0, shows the one, and one that has hardly changed the other, if that is beyond the noise.
 * What is known of the information I is then put right along m, so that it agrees with both scores
 * (the update of Broyden, Fletcher, Goldfarb and Shanno, in one direction):
 *
 *   I += (rho - 1) I m m' I / (m' I m),   rho = m'(S_before - S) / (kept m' I m)
 *
 * It reads releases alone.  What moves of small size show of the information is drowned by noise,
 * and changes nothing.  The move is made of the score before, and its noise e with it: m'e is no
 * noise of mean 0 but above it, so that there would always seem to be more information than there
 * is.  A score points back for sure only beyond what the length of e can make; what is missing is
 * understated, and needs less. */
#ifndef DPI_INFER_SECANT_H
#define DPI_INFER_SECANT_H

#include "infer/rounds.h"

/* Puts r->information right by round t > 0 and the one before, of releases with noise sd: to no
 * less than `least` of what it was along the move.  *share [out] is to how much, 1 where nothing
 * was to be put right.  DP_ENOMEM. */
dp_status dpi_secant(dpi_rounds *r, size_t t, double sd, double least, double *share,
                     dp_error *err) DP_MUST_CHECK;

#endif
