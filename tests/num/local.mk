UNIT_TESTS += %D%/t-gemm %D%/t-linalg %D%/t-map %D%/t-special %D%/t-spline
EXTRA_DIST += %D%/reference.py
%C%_t_special_SOURCES = %D%/t-special.c %D%/reference.h
