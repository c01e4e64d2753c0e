UNIT_TESTS += %D%/t-model
%C%_t_model_SOURCES = %D%/t-model.c
