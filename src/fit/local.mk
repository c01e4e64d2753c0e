libtacit_core_la_SOURCES += \
  %D%/evaluate.c \
  %D%/posterior.c %D%/posterior.h \
  %D%/simulate.c
