# Arithmetic of cryptography: additive homomorphic schemes and what they stand on.
if SERVE
noinst_LTLIBRARIES += libtacit-crypto.la
libtacit_crypto_la_SOURCES = \
  %D%/comb.c %D%/comb.h \
  %D%/dense-inputs.c %D%/dense-plan.c %D%/dense-plan.h %D%/dense.c %D%/dense.h \
  %D%/limbs.c %D%/limbs.h \
  %D%/montgomery-few.c %D%/montgomery-gmp.c %D%/montgomery-ifma.c %D%/montgomery.c %D%/montgomery.h \
  %D%/paillier-key.c %D%/paillier-key.h %D%/paillier.c %D%/paillier.h \
  %D%/narrow-plan.c %D%/narrow-plan.h %D%/narrow.c %D%/narrow.h \
  %D%/peer.c \
  %D%/prime.c %D%/prime.h \
  %D%/proof.c %D%/proof.h \
  %D%/slots.c %D%/slots.h \
  %D%/mask.c %D%/mask.h \
  %D%/zeros.c %D%/zeros.h
libtacit_crypto_la_SOURCES += \
  %D%/bfv-answer.c %D%/bfv-bytes.c %D%/bfv-parts.h %D%/bfv-public.c %D%/bfv.c %D%/bfv.h \
  %D%/lattice-answer.c %D%/lattice-plan.c %D%/lattice.c %D%/lattice.h \
  %D%/modulus.c %D%/modulus.h \
  %D%/ntt-avx2.c %D%/ntt-ifma.c %D%/ntt-ifma.h %D%/ntt-ifma-rows.c %D%/ntt.c %D%/ntt.h \
  %D%/packed.c %D%/packed.h \
  %D%/rlwe-sample.c %D%/rlwe-sample.h \
  %D%/threshold-open.c %D%/threshold.c %D%/threshold.h
libtacit_crypto_la_CPPFLAGS = $(AM_CPPFLAGS) $(GMP_CFLAGS)
libtacit_serve_convenience += libtacit-crypto.la
endif
