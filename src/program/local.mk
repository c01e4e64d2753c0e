libtacit_core_la_SOURCES += \
  %D%/build.c \
  %D%/cut.c \
  %D%/decimals.c \
  %D%/fix.c \
  %D%/lower.c %D%/lower.h %D%/lower-rules.c \
  %D%/print.c \
  %D%/program.c %D%/program.h \
  %D%/range.c \
  %D%/records.c \
  %D%/region.c \
  %D%/run.c %D%/run-stage.h %D%/sigmoid-table.h \
  %D%/sheet.c \
  %D%/terms.c
