libtacit_core_la_SOURCES += \
  %D%/describe.c %D%/describe.h \
  %D%/gradient.c %D%/gradient.h \
  %D%/graph.c %D%/graph.h \
  %D%/op.c %D%/op.h \
  %D%/op-activation.c \
  %D%/op-elementwise.c \
  %D%/op-group.c \
  %D%/op-last.c \
  %D%/op-layout.c \
  %D%/op-loops.h \
  %D%/op-list.h \
  %D%/op-numbers.h \
  %D%/op-pool.c \
  %D%/op-product.c \
  %D%/op-reduce.c \
  %D%/op-select.c \
  %D%/op-single.c %D%/op-single.h \
  %D%/op-source.c \
  %D%/shape.c %D%/shape.h \
  %D%/simplify.c %D%/simplify.h
