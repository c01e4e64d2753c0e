tacitinclude_HEADERS += \
  %D%/tacit/dataset.h \
  %D%/tacit/export.h \
  %D%/tacit/status.h \
  %D%/tacit/table.h
