libtacit_core_la_SOURCES += \
  %D%/linalg.c %D%/linalg.h \
  %D%/special.c %D%/special.h
