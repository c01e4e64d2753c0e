libtacit_core_la_SOURCES += \
  %D%/dataset.c %D%/dataset.h \
  %D%/run.c %D%/run.h
