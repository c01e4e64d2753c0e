libtacit_core_la_SOURCES += \
  %D%/factored.c %D%/factored.h \
  %D%/decomposition.c %D%/decomposition.h \
  %D%/kernels-single.c \
  %D%/run.c %D%/run.h %D%/run-state.h \
  %D%/single.c %D%/single.h \
  %D%/strip-rules.c \
  %D%/strips.c %D%/strips.h \
  %D%/taken.c %D%/taken.h \
  %D%/terms.c %D%/terms.h \
  %D%/value.c %D%/value.h \
  %D%/chains.c %D%/chains.h \
  %D%/clip.c %D%/clip.h \
  %D%/describe.c \
  %D%/factors.c %D%/factors.h \
  %D%/whole.c %D%/whole.h
