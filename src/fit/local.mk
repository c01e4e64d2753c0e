libtacit_core_la_SOURCES += \
  %D%/draws.c %D%/draws.h \
  %D%/elbo.c \
  %D%/evaluate.c \
  %D%/file.c %D%/file.h %D%/file-kept.c %D%/file-sections.c %D%/file-sections.h \
  %D%/finish.c \
  %D%/fit.c %D%/fit.h \
  %D%/groups.c \
  %D%/split-cut.c %D%/split.c %D%/split.h \
  %D%/kept.c %D%/kept.h \
  %D%/latents.c %D%/latents.h \
  %D%/outcome.c \
  %D%/print.c \
  %D%/prior.c \
  %D%/report.c %D%/report.h \
  %D%/simulate.c \
  %D%/source.c \
  %D%/summary.c \
  %D%/walk.c %D%/walk.h
