libtacit_core_la_SOURCES += \
  %D%/check.c %D%/check.h \
  %D%/checkpoint.c %D%/checkpoint.h \
  %D%/cost.c %D%/cost.h \
  %D%/extras.c %D%/extras.h \
  %D%/factor.c %D%/factor.h \
  %D%/finish.c %D%/finish.h \
  %D%/join.c %D%/join.h \
  %D%/keep.h \
  %D%/local.c %D%/local.h \
  %D%/moves.h %D%/optimizer.c %D%/optimizer.h \
  %D%/options.c %D%/options.h \
  %D%/release.c %D%/release.h \
  %D%/report.c \
  %D%/sampling.c %D%/sampling.h \
  %D%/sampling-allocation.c %D%/sampling-fixed.c %D%/sampling-full.c \
  %D%/sampling-poisson.c %D%/sampling-truncated.c \
  %D%/save.c \
  %D%/spend.c %D%/spend.h \
  %D%/sum.c %D%/sum.h \
  %D%/svi.c %D%/svi.h \
  %D%/together.c %D%/together.h \
  %D%/waves.c %D%/waves.h \
  %D%/workers.c
