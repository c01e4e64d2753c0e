libtacit_core_la_SOURCES += \
  %D%/arithmetic.c %D%/arithmetic.h \
  %D%/atom.c %D%/atom.h \
  %D%/columns.c \
  %D%/dataset.c \
  %D%/describe.c \
  %D%/design.c %D%/design.h \
  %D%/family.c %D%/family.h \
  %D%/groups.c %D%/formula.c %D%/formula.h \
  %D%/layout.c %D%/layout.h \
  %D%/model.c \
  %D%/parse.c %D%/parse.h \
  %D%/part.c \
  %D%/place.c %D%/place.h \
  %D%/predictor.c \
  %D%/prior.c %D%/prior.h \
  %D%/smooth.c \
  %D%/terms.c %D%/terms.h %D%/terms-text.c \
  %D%/token.c %D%/token.h \
  %D%/tree.c %D%/tree.h \
  %D%/walk.h \
  %D%/writer.c %D%/writer.h
