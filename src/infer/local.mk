libtacit_core_la_SOURCES += \
  %D%/bounds.c \
  %D%/check.c %D%/check.h \
  %D%/cost.c %D%/cost.h \
  %D%/evaluate.c \
  %D%/extras.c %D%/extras.h \
  %D%/finish.c %D%/finish.h \
  %D%/group.c %D%/group.h \
  %D%/join.c %D%/join.h \
  %D%/optimizer.c %D%/optimizer.h \
  %D%/options.c %D%/options.h \
  %D%/posterior.c %D%/posterior.h \
  %D%/quantile.c %D%/quantile.h \
  %D%/release.c %D%/release.h \
  %D%/report.c \
  %D%/simulate.c \
  %D%/sum.c %D%/sum.h \
  %D%/svi.c %D%/svi.h \
  %D%/waves.c %D%/waves.h

# What a run pays, and what is kept of it.
libtacit_core_la_SOURCES += \
  %D%/checkpoint.c %D%/checkpoint.h \
  %D%/save.c \
  %D%/spend.c %D%/spend.h
