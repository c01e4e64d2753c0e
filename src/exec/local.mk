libtacit_core_la_SOURCES += \
  %D%/form.c %D%/form.h \
  %D%/run.c %D%/run.h %D%/run-state.h \
  %D%/single.c %D%/single.h \
  %D%/strips.c %D%/strips.h \
  %D%/terms.c %D%/terms.h \
  %D%/chains.c %D%/chains.h \
  %D%/clip.c %D%/clip.h \
  %D%/describe.c \
  %D%/factors.c %D%/factors.h
