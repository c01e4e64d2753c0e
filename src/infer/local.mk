libtacit_core_la_SOURCES += \
  %D%/hmc.c %D%/hmc.h \
  %D%/mixing.c %D%/mixing.h \
  %D%/nuts.c %D%/nuts.h \
  %D%/whiten.c %D%/whiten.h
