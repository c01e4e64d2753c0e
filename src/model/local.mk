libtacit_core_la_SOURCES += \
  %D%/arguments.c \
  %D%/columns.c \
  %D%/cut.c %D%/cut.h \
  %D%/declare.h \
  %D%/divergence.c %D%/divergence.h \
  %D%/expr.c \
  %D%/factor.c %D%/factor.h \
  %D%/hilbert.c \
  %D%/init.c %D%/init.h \
  %D%/layers.c \
  %D%/expr-algebra.c \
  %D%/expr-layer.c \
  %D%/marginal.c \
  %D%/loose.c %D%/loose.h \
  %D%/model.c %D%/model.h \
  %D%/multivariate.c \
  %D%/ordinal.c \
  %D%/plates.c \
  %D%/proper.c %D%/proper.h \
  %D%/restore.c \
  %D%/sample.c \
  %D%/sites.c \
  %D%/smooth.c \
  %D%/store.c %D%/store.h %D%/store-form.h \
  %D%/objective.c %D%/objective.h
