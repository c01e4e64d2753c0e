# Ready models: part of the library, written on its public headers alone.
libtacit_core_la_SOURCES += \
  %D%/bayesian_network.c \
  %D%/build.c %D%/build.h \
  %D%/cnn.c \
  %D%/dawid_skene.c \
  %D%/factor_analysis.c \
  %D%/gaussian_mixture.c \
  %D%/gaussian_process.c \
  %D%/hierarchical.c \
  %D%/hidden_markov.c \
  %D%/item_response.c \
  %D%/linear.c \
  %D%/logistic.c \
  %D%/mlp.c \
  %D%/multinomial.c \
  %D%/negative_binomial.c \
  %D%/ordered.c \
  %D%/poisson.c \
  %D%/regression.c %D%/regression.h \
  %D%/survival.c \
  %D%/vae.c
