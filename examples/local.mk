noinst_PROGRAMS += %D%/contraception
examples_contraception_LDADD = libtacit.la -lm
