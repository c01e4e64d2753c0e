UNIT_TESTS += %D%/t-deterministic %D%/t-divergence %D%/t-expr %D%/t-expr-layer %D%/t-expr-refused %D%/t-layers %D%/t-mixture \
  %D%/t-model %D%/t-objective %D%/t-objective-refused
%C%_t_deterministic_SOURCES = %D%/t-deterministic.c
UNIT_TESTS += %D%/t-store
random_model = %D%/random-model.c %D%/random-model.h
%C%_t_store_SOURCES = %D%/t-store.c $(random_model) $(graph_help) $(faulty)
%C%_t_store_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_divergence_SOURCES = %D%/t-divergence.c
operands = %D%/operands.c %D%/operands.h
%C%_t_expr_SOURCES = %D%/t-expr.c $(operands)
%C%_t_expr_refused_SOURCES = %D%/t-expr-refused.c $(operands)
%C%_t_expr_layer_SOURCES = %D%/t-expr-layer.c
%C%_t_layers_SOURCES = %D%/t-layers.c
%C%_t_mixture_SOURCES = %D%/t-mixture.c
%C%_t_model_SOURCES = %D%/t-model.c
%C%_t_objective_SOURCES = %D%/t-objective.c %D%/scene.c %D%/scene.h $(faulty)
%C%_t_objective_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_objective_refused_SOURCES = %D%/t-objective-refused.c
