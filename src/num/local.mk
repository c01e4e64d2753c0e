libtacit_core_la_SOURCES += \
  %D%/bessel.c %D%/bessel.h \
  %D%/gemm.c %D%/gemm.h %D%/gemm-kernel.h \
  %D%/gemm-avx512.c %D%/gemm-avx512-single.c %D%/gemm-avx2.c %D%/gemm-avx2-single.c \
  %D%/gemm-portable.c %D%/gemm-portable-single.c \
  %D%/map.c %D%/map.h %D%/map-kernel.h %D%/map-loop.h %D%/map-avx512.c %D%/map-avx2.c %D%/map-portable.c \
  %D%/map-double-kernel.h %D%/map-avx512-double.c %D%/map-avx2-double.c %D%/map-portable-double.c \
  %D%/incomplete.c %D%/student.c %D%/jet.h %D%/beta-fraction.c %D%/beta-fraction.h %D%/beta.c \
  %D%/decay.c %D%/decay.h \
  %D%/linalg.c %D%/linalg.h %D%/copy.h \
  %D%/matrix.c %D%/matrix.h \
  %D%/skew.c %D%/student-large.c %D%/student-large.h \
  %D%/rising.c %D%/rising.h \
  %D%/special.c %D%/special.h \
  %D%/spline.c %D%/spline.h \
  %D%/tail.c %D%/tail.h
