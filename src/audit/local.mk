libtacit_core_la_SOURCES += \
  %D%/audit.c %D%/audit.h \
  %D%/bound.c %D%/bound.h \
  %D%/claim.c %D%/claim.h \
  %D%/asking.c %D%/asking.h \
  %D%/looped.c %D%/looped.h \
  %D%/scene.c %D%/scene.h
