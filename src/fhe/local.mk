# Computing on encrypted vectors of numbers.
if SERVE
noinst_LTLIBRARIES += libtacit-fhe.la
libtacit_fhe_la_SOURCES = \
  %D%/ckks-bytes.c %D%/ckks-cipher.c %D%/ckks-compute.c %D%/ckks-context.c %D%/ckks-key.c %D%/ckks-parts.h \
  %D%/ckks-switch.c %D%/ckks.h \
  %D%/embed.c %D%/embed.h \
  %D%/linear.c %D%/linear.h \
  %D%/polynomial.c %D%/polynomial.h
endif
