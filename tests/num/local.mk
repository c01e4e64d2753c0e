UNIT_TESTS += %D%/t-bessel %D%/t-gemm %D%/t-linalg %D%/t-map %D%/t-rising %D%/t-special %D%/t-spline
EXTRA_DIST += %D%/reference.py %D%/reference-bessel.py %D%/reference-rising.py
%C%_t_bessel_SOURCES = %D%/t-bessel.c %D%/reference-bessel.h
%C%_t_rising_SOURCES = %D%/t-rising.c %D%/reference-rising.h
%C%_t_special_SOURCES = %D%/t-special.c %D%/reference.h
