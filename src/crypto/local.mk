# Arithmetic of cryptography: additive homomorphic schemes and what they stand on.
if SERVE
noinst_LTLIBRARIES += libtacit-crypto.la
libtacit_crypto_la_SOURCES = \
  %D%/modulus.c %D%/modulus.h \
  %D%/ntt-ifma.c %D%/ntt.c %D%/ntt.h
libtacit_crypto_la_CPPFLAGS = $(AM_CPPFLAGS) $(GMP_CFLAGS)
libtacit_serve_convenience += libtacit-crypto.la
endif
