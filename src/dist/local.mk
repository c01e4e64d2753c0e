libtacit_core_la_SOURCES += \
  %D%/asymmetric-laplace.c \
  %D%/bernoulli-logit.c \
  %D%/beta.c \
  %D%/beta-binomial.c \
  %D%/beta-mean.c \
  %D%/binomial-logit.c \
  %D%/categorical-logit.c \
  %D%/cauchy.c \
  %D%/chance-logit.c \
  %D%/chi-squared.c \
  %D%/constructors.c \
  %D%/constructors-counts.c \
  %D%/correlation-factor.c \
  %D%/covariance-factor.c \
  %D%/dirichlet.c \
  %D%/exponential.c \
  %D%/flat.c \
  %D%/form.c %D%/form.h %D%/form-constructors.c \
  %D%/family.c %D%/family.h %D%/family-list.h \
  %D%/gamma.c \
  %D%/geometric-logit.c \
  %D%/half-cauchy.c \
  %D%/half-normal.c \
  %D%/half-student-t.c \
  %D%/inverse-gamma.c \
  %D%/gumbel.c \
  %D%/kumaraswamy.c \
  %D%/laplace.c \
  %D%/log-normal.c \
  %D%/logistic-distribution.c \
  %D%/lkj-cholesky.c \
  %D%/matrix-rows.c %D%/matrix-rows.h \
  %D%/mixture.c %D%/mixture-of-several.c \
  %D%/multinomial.c \
  %D%/multivariate-normal.c \
  %D%/negative-binomial.c \
  %D%/negative-binomial-log.c \
  %D%/normal.c \
  %D%/ordered.c \
  %D%/ordinal.c \
  %D%/outcomes.c %D%/outcomes.h \
  %D%/outcomes-counts.c \
  %D%/outcomes-shares.c \
  %D%/panels.c %D%/panels.h \
  %D%/pareto.c \
  %D%/poisson-log.c \
  %D%/skew-normal.c \
  %D%/student-t.c \
  %D%/support.c %D%/support.h \
  %D%/support-rows.c %D%/support-rows.h \
  %D%/censored.c %D%/inflated.c %D%/veil.c %D%/veil.h %D%/weighted.c \
  %D%/truncated.c \
  %D%/time-series.c \
  %D%/uniform.c \
  %D%/unit-vector.c \
  %D%/von-mises.c \
  %D%/weibull.c \
  %D%/wishart.c
