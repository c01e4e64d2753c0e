libtacit_base_la_SOURCES += \
  %D%/alloc.c %D%/alloc.h \
  %D%/bytes.c %D%/bytes.h \
  %D%/bits.h \
  %D%/compiler.h \
  %D%/error.c %D%/error.h \
  %D%/float.c %D%/float.h \
  %D%/fork.c %D%/fork.h \
  %D%/group.c %D%/group.h \
  %D%/hosts.c %D%/hosts.h \
  %D%/name.c %D%/name.h \
  %D%/plain.c %D%/plain.h \
  %D%/pool.c %D%/pool.h \
  %D%/replace.c %D%/replace.h \
  %D%/store.c %D%/store.h
