UNIT_TESTS += %D%/t-attr %D%/t-describe %D%/t-gradient %D%/t-graph %D%/t-kernel-loops %D%/t-op %D%/t-random %D%/t-shape %D%/t-simplify

graph_help = %D%/naive.c %D%/naive.h %D%/naive-matrix.c %D%/naive-matrix.h %D%/naive-special.c %D%/naive-tail.c %D%/points.c %D%/points.h
graph_differences = %D%/differences.c %D%/differences.h
faulty = %D%/faulty.c %D%/faulty.h
FAULTY_LINK = -Wl,--wrap=aligned_alloc -Wl,--wrap=free

%C%_t_attr_SOURCES = %D%/t-attr.c
%C%_t_describe_SOURCES = %D%/t-describe.c $(faulty)
%C%_t_describe_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_gradient_SOURCES = %D%/t-gradient.c $(graph_help) $(graph_differences) $(faulty)
%C%_t_gradient_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_graph_SOURCES = %D%/t-graph.c $(graph_help)
%C%_t_kernel_loops_SOURCES = %D%/t-kernel-loops.c
%C%_t_op_SOURCES = %D%/t-op.c $(graph_help) $(graph_differences)
%C%_t_random_SOURCES = %D%/t-random.c $(graph_help)
%C%_t_shape_SOURCES = %D%/t-shape.c $(graph_help)
%C%_t_simplify_SOURCES = %D%/t-simplify.c $(graph_help)
