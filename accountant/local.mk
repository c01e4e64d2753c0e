libtacit_accountant_la_SOURCES += \
  %D%/account.c \
  %D%/bound.c %D%/bound.h \
  %D%/curve.c %D%/curve.h \
  %D%/lower.c %D%/lower.h \
  %D%/fft.c %D%/fft.h \
  %D%/gaussian.c %D%/gaussian.h \
  %D%/grid.c %D%/grid.h \
  %D%/mass.c %D%/mass.h \
  %D%/pair.c %D%/pair.h \
  %D%/plan.c %D%/plan.h \
  %D%/saddle.c %D%/saddle.h \
  %D%/sigma.c %D%/sigma.h
