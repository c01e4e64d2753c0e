libtacit_accountant_la_SOURCES += \
  %D%/account.c \
  %D%/allocation.c %D%/allocation.h \
  %D%/atoms.c %D%/atoms.h \
  %D%/binomial.c %D%/binomial.h \
  %D%/bound.c %D%/bound.h \
  %D%/calibrate.c \
  %D%/check.c %D%/check.h \
  %D%/composition.c %D%/composition.h \
  %D%/contour.c %D%/contour.h \
  %D%/convex.c %D%/convex.h \
  %D%/curve.c %D%/curve.h \
  %D%/lower.c %D%/lower.h \
  %D%/lump.c %D%/lump.h \
  %D%/fft.c %D%/fft.h \
  %D%/gaussian.c %D%/gaussian.h \
  %D%/grid.c %D%/grid.h \
  %D%/mass.c %D%/mass.h \
  %D%/nodes.c %D%/nodes.h \
  %D%/normal.c %D%/normal.h \
  %D%/once.c %D%/once.h \
  %D%/pair.c %D%/pair.h %D%/make.h \
  %D%/pair-fixed.c \
  %D%/pair-full.c \
  %D%/pair-laplace.c \
  %D%/pair-lattice.c \
  %D%/pair-mixture.c \
  %D%/pair-poisson.c \
  %D%/pair-replace.c \
  %D%/pair-response.c \
  %D%/pair-truncated.c \
  %D%/path.c %D%/path.h \
  %D%/phase.c %D%/phase.h \
  %D%/plan.c %D%/plan.h \
  %D%/quadrature.c %D%/quadrature.h \
  %D%/renyi.c %D%/renyi.h \
  %D%/risk.c \
  %D%/saddle.c %D%/saddle.h \
  %D%/tradeoff.c %D%/tradeoff.h \
  %D%/shuffle.c %D%/shuffle.h \
  %D%/sums.c %D%/sums.h
