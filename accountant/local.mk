libtacit_accountant_la_SOURCES += \
  %D%/pairs/allocation.c %D%/pairs/allocation.h \
  %D%/pairs/binomial.c %D%/pairs/binomial.h \
  %D%/pairs/fixed.c \
  %D%/pairs/full.c \
  %D%/pairs/laplace.c \
  %D%/pairs/lattice.c \
  %D%/pairs/make.h \
  %D%/pairs/mixture.c \
  %D%/pairs/normal.c %D%/pairs/normal.h \
  %D%/pairs/pair.c %D%/pairs/pair.h \
  %D%/pairs/poisson.c \
  %D%/pairs/replace.c \
  %D%/pairs/response.c \
  %D%/pairs/sums.c %D%/pairs/sums.h \
  %D%/pairs/truncated.c
libtacit_accountant_la_SOURCES += \
  %D%/grid/blend.c %D%/grid/blend.h \
  %D%/grid/curve.c %D%/grid/curve.h \
  %D%/grid/fft.c %D%/grid/fft.h \
  %D%/grid/grid.c %D%/grid/grid.h \
  %D%/grid/lower.c %D%/grid/lower.h \
  %D%/grid/lump.c %D%/grid/lump.h \
  %D%/grid/mass.c %D%/grid/mass.h \
  %D%/grid/plan.c %D%/grid/plan.h \
  %D%/grid/quadrature.c %D%/grid/quadrature.h \
  %D%/grid/quick.c %D%/grid/quick.h \
  %D%/grid/saddle.c %D%/grid/saddle.h
libtacit_accountant_la_SOURCES += \
  %D%/contour/contour.c %D%/contour/contour.h \
  %D%/contour/nodes.c %D%/contour/nodes.h \
  %D%/contour/once.c %D%/contour/once.h \
  %D%/contour/path.c %D%/contour/path.h \
  %D%/contour/phase.c %D%/contour/phase.h
libtacit_accountant_la_SOURCES += \
  %D%/answers/account.c \
  %D%/answers/atoms.c %D%/answers/atoms.h \
  %D%/answers/bound.c %D%/answers/bound.h \
  %D%/answers/calibrate.c \
  %D%/answers/check.c %D%/answers/check.h \
  %D%/answers/composition.c %D%/answers/composition.h \
  %D%/answers/convex.c %D%/answers/convex.h \
  %D%/answers/gaussian.c %D%/answers/gaussian.h \
  %D%/answers/rare.c %D%/answers/rare.h \
  %D%/answers/renyi.c %D%/answers/renyi.h \
  %D%/answers/risk.c \
  %D%/answers/search.c %D%/answers/search.h \
  %D%/answers/shuffle.c %D%/answers/shuffle.h \
  %D%/answers/tradeoff.c %D%/answers/tradeoff.h
