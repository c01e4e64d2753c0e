noinst_PROGRAMS += %D%/bounds %D%/contraception %D%/logistic %D%/mixture %D%/vae %D%/visits
examples_bounds_LDADD = libtacit.la -lm
examples_contraception_LDADD = libtacit.la -lm
examples_logistic_LDADD = libtacit.la -lm
examples_mixture_LDADD = libtacit.la -lm
examples_vae_LDADD = libtacit.la -lm
examples_visits_LDADD = libtacit.la -lm
dist_check_SCRIPTS += %D%/check-examples
