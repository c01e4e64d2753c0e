libtacit_core_la_SOURCES += \
  %D%/blocks.c %D%/blocks.h \
  %D%/builder.c \
  %D%/cell.c %D%/cell.h \
  %D%/csv.c %D%/csv.h \
  %D%/dataset.c %D%/dataset.h \
  %D%/draft.c %D%/draft.h %D%/draft-codebook.c %D%/draft-records.c \
  %D%/file.c %D%/file.h \
  %D%/gunzip.c %D%/gunzip.h \
  %D%/idx.c \
  %D%/names.c %D%/names.h \
  %D%/npy.c \
  %D%/npy-header.c %D%/npy-header.h %D%/npy-table.c %D%/npy-table.h %D%/npy-text.c %D%/npy-text.h \
  %D%/read.c %D%/read.h \
  %D%/rows.c %D%/rows.h \
  %D%/schema.c %D%/schema.h %D%/schema-read.c %D%/schema-text.c %D%/schema-text.h \
  %D%/source.c %D%/source-gzip.c %D%/source.h \
  %D%/sqlite.c \
  %D%/table.c %D%/table.h \
  %D%/unit.c %D%/unit.h
