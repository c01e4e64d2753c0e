libtacit_core_la_SOURCES += \
  %D%/allocation.c %D%/allocation.h \
  %D%/chacha.c %D%/chacha.h \
  %D%/discrete.c %D%/discrete.h \
  %D%/entropy.c %D%/entropy.h \
  %D%/failure.c %D%/failure.h \
  %D%/feistel.c %D%/feistel.h \
  %D%/gap.c %D%/gap.h \
  %D%/grid-avx2.c %D%/grid-avx512.c %D%/grid-kernel.h %D%/grid-parts.h %D%/grid-portable.c %D%/grid.c %D%/grid.h \
  %D%/gsl.c %D%/gsl.h \
  %D%/noise.c %D%/noise.h \
  %D%/normal.c %D%/normal.h \
  %D%/poisson.c %D%/poisson.h \
  %D%/rng.c %D%/rng.h \
  %D%/stream.c %D%/stream.h \
  %D%/subset.c %D%/subset.h \
  %D%/wide.c %D%/wide.h
