libtacit_core_la_SOURCES += \
  %D%/bounds.c \
  %D%/quantile.c %D%/quantile.h
