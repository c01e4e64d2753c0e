libtacit_core_la_SOURCES += \
  %D%/atom.c %D%/atom.h \
  %D%/family.c %D%/family.h \
  %D%/formula.c %D%/formula.h \
  %D%/parse.c %D%/parse.h \
  %D%/place.c %D%/place.h \
  %D%/terms.c %D%/terms.h %D%/terms-text.c \
  %D%/token.c %D%/token.h \
  %D%/tree.c %D%/tree.h
