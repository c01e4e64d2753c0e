libtacit_core_la_SOURCES += \
  %D%/bounds.c %D%/counts.c \
  %D%/paid.c %D%/paid.h \
  %D%/quantile.c %D%/quantile.h
