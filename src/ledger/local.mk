libtacit_core_la_SOURCES += \
  %D%/admit.c \
  %D%/check.c \
  %D%/compose.c %D%/compose.h \
  %D%/contents.c %D%/contents.h \
  %D%/data.c %D%/data.h \
  %D%/fields.c %D%/fields.h \
  %D%/hash.c %D%/hash.h \
  %D%/known.c %D%/known.h \
  %D%/overlap.c %D%/overlap.h \
  %D%/reserve.c %D%/reserve.h \
  %D%/rows.c %D%/rows.h \
  %D%/sketch.c %D%/sketch.h \
  %D%/statement.c \
  %D%/store.c %D%/store.h \
  %D%/survey.c %D%/survey.h
