UNIT_TESTS += %D%/t-op

graph_help = %D%/naive.c %D%/naive.h %D%/points.c %D%/points.h
%C%_t_op_SOURCES = %D%/t-op.c $(graph_help)
