libtacit_core_la_SOURCES += \
  %D%/allocation.c %D%/allocation.h \
  %D%/entropy.c %D%/entropy.h \
  %D%/feistel.c %D%/feistel.h \
  %D%/gsl.c %D%/gsl.h \
  %D%/noise.c %D%/noise.h \
  %D%/normal.c %D%/normal.h \
  %D%/poisson.c %D%/poisson.h \
  %D%/rng.c %D%/rng.h \
  %D%/stream.c %D%/stream.h \
  %D%/subset.c %D%/subset.h
