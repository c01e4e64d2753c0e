# Computing on encrypted vectors of numbers.
if SERVE
noinst_LTLIBRARIES += libtacit-fhe.la
libtacit_serve_convenience += libtacit-fhe.la
libtacit_fhe_la_SOURCES = \
  %D%/boot-bytes.c %D%/boot-key.c %D%/boot-parts.h %D%/boot-transform.c %D%/boot.c %D%/boot.h \
  %D%/ckks-bytes.c %D%/ckks-cipher.c %D%/ckks-compute.c %D%/ckks-context.c %D%/ckks-key.c %D%/ckks-parts.h \
  %D%/ckks-switch.c %D%/ckks.h \
  %D%/diagonals.c %D%/diagonals.h \
  %D%/embed.c %D%/embed.h \
  %D%/linear.c %D%/linear.h \
  %D%/polynomial.c %D%/polynomial.h \
  %D%/product.c %D%/product.h \
  %D%/sign.c %D%/sign.h \
  %D%/softmax.c %D%/softmax.h
endif
