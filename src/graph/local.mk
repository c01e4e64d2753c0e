libtacit_core_la_SOURCES += \
  %D%/attr.c %D%/attr.h \
  %D%/describe.c %D%/describe.h \
  %D%/gradient.c %D%/gradient.h \
  %D%/graph.c %D%/graph.h \
  %D%/kernel-elementwise.c \
  %D%/kernel-last.c \
  %D%/kernel-layout.c \
  %D%/kernel-loops.h \
  %D%/kernel-matrix.c \
  %D%/kernel-numbers.h \
  %D%/kernel-pool.c \
  %D%/kernel-product.c \
  %D%/kernel-reduce.c \
  %D%/kernel-rising.c \
  %D%/kernel-select.c \
  %D%/kernel-single.c \
  %D%/kernel-taking.c \
  %D%/kernel-tail.c \
  %D%/kernels.c %D%/kernel.h \
  %D%/op.c %D%/op.h \
  %D%/op-activation.c \
  %D%/op-arithmetic.c \
  %D%/op-bessel.c \
  %D%/op-beta.c %D%/student-density.c \
  %D%/op-cholesky.c \
  %D%/op-cumulative.c \
  %D%/op-elementwise.c \
  %D%/op-group.c \
  %D%/op-keep.c \
  %D%/op-last.c \
  %D%/op-layout.c \
  %D%/op-list.h \
  %D%/op-matrix.c \
  %D%/op-pool.c \
  %D%/op-product.c \
  %D%/op-reduce.c \
  %D%/op-rising.c \
  %D%/op-select.c \
  %D%/op-source.c \
  %D%/op-tail.c \
  %D%/shape.c %D%/shape.h
