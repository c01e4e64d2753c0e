libtacit_core_la_SOURCES += \
  %D%/build.c \
  %D%/fix.c \
  %D%/print.c \
  %D%/program.c %D%/program.h \
  %D%/range.c \
  %D%/run.c %D%/run-stage.h %D%/sigmoid-table.h \
  %D%/sheet.c
