tacitinclude_HEADERS += \
  %D%/tacit/export.h \
  %D%/tacit/status.h
