libtacit_accountant_la_SOURCES += \
  %D%/account.c \
  %D%/allocation.c %D%/allocation.h \
  %D%/atoms.c %D%/atoms.h \
  %D%/binomial.c %D%/binomial.h \
  %D%/bound.c %D%/bound.h \
  %D%/contour.c %D%/contour.h \
  %D%/curve.c %D%/curve.h \
  %D%/lower.c %D%/lower.h \
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
  %D%/saddle.c %D%/saddle.h \
  %D%/sigma.c %D%/sigma.h \
  %D%/sums.c %D%/sums.h
