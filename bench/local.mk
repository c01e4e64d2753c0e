# Benchmarks are built by `make check`, so that they keep up with the library, and not run; one by
# one: make bench/b-random && bench/b-random.
# Results that documents quote are kept: results/<date>-<commit>.json.
EXTRA_DIST += %D%/results %D%/silo-fit %D%/silo-hosts-owner.c
benchmark = %D%/bench.c %D%/bench.h
bench_options = %D%/options.c %D%/options.h

check_PROGRAMS += %D%/b-random
%C%_b_random_SOURCES = %D%/b-random.c $(benchmark)
%C%_b_random_LDADD = libtacit-core.la $(TACIT_LIBS)

check_PROGRAMS += %D%/b-records
%C%_b_records_SOURCES = %D%/b-records.c $(benchmark)
%C%_b_records_LDADD = libtacit-internal.la $(TACIT_LIBS)

check_PROGRAMS += %D%/b-forward
%C%_b_forward_SOURCES = %D%/b-forward.c $(benchmark)
%C%_b_forward_LDADD = libtacit.la -lm

check_PROGRAMS += %D%/journal
%C%_journal_SOURCES = %D%/journal.c $(bench_options) $(benchmark)
%C%_journal_LDADD = libtacit.la

check_PROGRAMS += %D%/b-threads
%C%_b_threads_SOURCES = %D%/b-threads.c $(benchmark)
%C%_b_threads_LDADD = libtacit.la

# Sums under encryption.
if SERVE
check_PROGRAMS += %D%/paillier
%C%_paillier_SOURCES = %D%/paillier.c $(benchmark)
%C%_paillier_CPPFLAGS = $(AM_CPPFLAGS) $(GMP_CFLAGS)
%C%_paillier_LDADD = libtacit-crypto.la libtacit-base.la $(TACIT_LIBS) $(SERVE_LIBS)
endif

if SERVE
check_PROGRAMS += %D%/ckks
%C%_ckks_SOURCES = %D%/ckks.c $(benchmark)
%C%_ckks_LDADD = libtacit-fhe.la libtacit-crypto.la libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS)
if WITH_MPI
check_PROGRAMS += %D%/ranks
%C%_ranks_SOURCES = %D%/ranks.c $(benchmark)
%C%_ranks_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
%C%_ranks_LDADD = libtacit-ranks.la libtacit-cluster.la libtacit-internal.la $(TACIT_LIBS)
endif
endif

# doc/scale-out.md and its pictures: make scale-out
EXTRA_DIST += %D%/scale-out.py
if SERVE
check_PROGRAMS += %D%/scale-out
%C%_scale_out_SOURCES = %D%/scale-out.c $(benchmark)
%C%_scale_out_LDADD = libtacit-cluster.la libtacit-internal.la $(TACIT_LIBS)
endif
scale-out: %D%/scale-out
	/usr/bin/python3 $(srcdir)/bench/scale-out.py --build . $(SCALE_OUT_OPTIONS)
.PHONY: scale-out

check_PROGRAMS += %D%/noise
%C%_noise_SOURCES = %D%/noise.c $(benchmark)
%C%_noise_LDADD = libtacit-internal.la $(TACIT_LIBS)

check_PROGRAMS += %D%/hierarchical_logistic
hierarchical = %D%/hierarchical.c %D%/hierarchical.h %D%/numpy-legacy.c %D%/numpy-legacy.h
%C%_hierarchical_logistic_SOURCES = %D%/hierarchical_logistic.c $(hierarchical) $(bench_options) $(benchmark)
%C%_hierarchical_logistic_LDADD = libtacit.la -lm

check_PROGRAMS += %D%/vae_step
%C%_vae_step_SOURCES = %D%/vae_step.c %D%/vae.c %D%/vae.h $(benchmark)
%C%_vae_step_LDADD = libtacit.la $(BLAS_LIBS)

check_PROGRAMS += %D%/step_noise
%C%_step_noise_SOURCES = %D%/step_noise.c %D%/vae.c %D%/vae.h $(benchmark)
%C%_step_noise_LDADD = libtacit.la

check_PROGRAMS += %D%/vae_parts
%C%_vae_parts_SOURCES = %D%/vae_parts.c %D%/vae.c %D%/vae.h $(benchmark)
%C%_vae_parts_LDADD = libtacit-internal.la $(TACIT_LIBS)

check_PROGRAMS += %D%/limits
%C%_limits_SOURCES = %D%/limits.c $(benchmark)
%C%_limits_LDADD = libtacit-internal.la $(TACIT_LIBS)

check_PROGRAMS += %D%/glm
%C%_glm_SOURCES = %D%/glm.c $(benchmark)
%C%_glm_LDADD = libtacit.la -lm

check_PROGRAMS += %D%/mixture
%C%_mixture_SOURCES = %D%/mixture.c %D%/numpy-legacy.c %D%/numpy-legacy.h $(bench_options) $(benchmark)
%C%_mixture_LDADD = libtacit.la -lm

check_PROGRAMS += %D%/vae_train
%C%_vae_train_SOURCES = %D%/vae_train.c %D%/vae.c %D%/vae.h $(benchmark)
%C%_vae_train_LDADD = libtacit.la

# Five seeds on both data sets, private and plain: most of an hour on two cores.
EXTRA_DIST += %D%/vae-five-seeds
bench-vae: %D%/vae_train
	$(SHELL) $(srcdir)/%D%/vae-five-seeds $(BENCH_VAE_OPTIONS)
.PHONY: bench-vae

check_PROGRAMS += %D%/accountant
%C%_accountant_SOURCES = %D%/accountant.c $(benchmark)
%C%_accountant_LDADD = libtacit-accountant.la libtacit-core.la $(TACIT_LIBS)

if SERVE
check_PROGRAMS += %D%/wire
%C%_wire_SOURCES = %D%/wire.c $(benchmark)
%C%_wire_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS)
%C%_wire_LDADD = libtacit-wire.la libtacit-base.la $(OPENSSL_LIBS)

loopback = %D%/loopback.c %D%/loopback.h

# Models that Tacit trains, as they are served.
served = %D%/served.h %D%/served-data.c %D%/served-lenet.c %D%/served-models.c %D%/served-session.c \
  %D%/women.c %D%/women.h tests/serve/daemons.c tests/serve/daemons.h
check_PROGRAMS += %D%/serve-accuracy
%C%_serve_accuracy_SOURCES = %D%/serve-accuracy.c %D%/served-rounding.c $(served) $(bench_options) $(benchmark)
%C%_serve_accuracy_LDADD = examples/images.$(OBJEXT) $(serve_core)
check_PROGRAMS += %D%/serve-scale
%C%_serve_scale_SOURCES = %D%/serve-scale.c $(served) $(bench_options) $(benchmark)
%C%_serve_scale_LDADD = examples/images.$(OBJEXT) libtacit-serve.la libtacit.la -lm
check_PROGRAMS += %D%/serve-ckks
%C%_serve_ckks_SOURCES = %D%/serve-ckks.c %D%/served-squares.c $(served) $(bench_options) $(benchmark)
%C%_serve_ckks_LDADD = examples/images.$(OBJEXT) $(serve_core)
EXTRA_DIST += %D%/served.py
endif

# What an answer costs that the provider never sees; many queries at a time, what stages take, and on
# how many cores.
if SERVE
serve_core = libtacit-serve-core.la libtacit-onnx.la libtacit-fhe.la libtacit-crypto.la libtacit-share.la libtacit-wire.la \
  libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS)
check_PROGRAMS += %D%/serve
%C%_serve_SOURCES = %D%/serve.c %D%/serve-parties.c %D%/serve-parties.h %D%/far.c %D%/far.h \
  tests/serve/daemons.c tests/serve/daemons.h \
  $(loopback) $(bench_options) $(benchmark)
%C%_serve_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS)
%C%_serve_LDADD = $(serve_core)
check_PROGRAMS += %D%/serve-stream
%C%_serve_stream_SOURCES = %D%/serve-stream.c %D%/serve-stages.c %D%/serve-stages.h %D%/delay.c %D%/delay.h $(loopback) \
  $(bench_options) $(benchmark)
%C%_serve_stream_LDADD = $(serve_core)
check_PROGRAMS += %D%/serve-partition
%C%_serve_partition_SOURCES = %D%/serve-partition.c $(loopback) $(bench_options) $(benchmark)
%C%_serve_partition_LDADD = $(serve_core)
endif

# Local arithmetic of sharing, and gates among processes.
if SERVE
check_PROGRAMS += %D%/share
%C%_share_SOURCES = %D%/share.c %D%/processes.c %D%/processes.h $(bench_options) $(benchmark)
%C%_share_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS)
%C%_share_LDADD = libtacit-share.la libtacit-wire.la libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS)
check_PROGRAMS += %D%/share-kernels
%C%_share_kernels_SOURCES = %D%/share-kernels.c $(benchmark)
%C%_share_kernels_LDADD = libtacit-share.la libtacit-internal.la $(TACIT_LIBS)
endif

# What hidden numbers tell.
if SERVE
check_PROGRAMS += %D%/serve-leakage
%C%_serve_leakage_SOURCES = %D%/serve-leakage.c tests/serve/attack.c tests/serve/attack.h \
  $(bench_options) $(benchmark)
%C%_serve_leakage_CPPFLAGS = $(AM_CPPFLAGS) $(GMP_CFLAGS) $(OPENSSL_CFLAGS)
%C%_serve_leakage_LDADD = libtacit-serve-core.la libtacit-onnx.la libtacit-fhe.la libtacit-crypto.la \
  libtacit-share.la libtacit-wire.la libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS)
endif

# Memory of a server that many ask for minutes.
EXTRA_DIST += %D%/serve-endurance

# How good answers are: bench/answers.py makes tables of its lines.
check_PROGRAMS += %D%/answers
%C%_answers_SOURCES = %D%/answers.c %D%/answers.h %D%/answers-problems.c %D%/answers-real.c \
  %D%/answers-reference.c %D%/answers-quadrature.c %D%/answers-standard.c %D%/answers-standard.h \
  %D%/answers-fit.c %D%/answers-null.c %D%/answers-cases.c \
  %D%/answers-formulas.c %D%/answers-formulas.h %D%/answers-frame.c %D%/answers-invent.c %D%/answers-best.c \
  tests/formula/data-sets.c tests/formula/data-sets.h \
  %D%/women.c %D%/women.h $(bench_options) $(benchmark)
%C%_answers_LDADD = libtacit.la $(ZLIB_LIBS) -lm
EXTRA_DIST += %D%/answers.py %D%/formulas.py %D%/outcomes.py

# Whether intervals from twins hold what they say: bench/twins TACIT REPETITIONS.
EXTRA_DIST += %D%/twins

# Fits without privacy beside reference posteriors.
check_PROGRAMS += %D%/posteriordb
%C%_posteriordb_SOURCES = %D%/posteriordb.c %D%/posteriordb.h %D%/posteriordb-regressions.c %D%/posteriordb-structures.c \
  $(bench_options) $(benchmark)
%C%_posteriordb_LDADD = libtacit.la -lm

# Of models that the loop fits.
check_PROGRAMS += %D%/loop
%C%_loop_SOURCES = %D%/loop.c %D%/women.c %D%/women.h $(bench_options) $(benchmark)
%C%_loop_LDADD = examples/images.$(OBJEXT) libtacit.la -lm

if SERVE
check_PROGRAMS += %D%/timing
%C%_timing_SOURCES = %D%/timing.c tests/crypto/timing.c tests/crypto/timing.h tests/crypto/timing-scene.c \
  tests/lib/numbers.c tests/lib/numbers.h $(bench_options) $(benchmark)
%C%_timing_CPPFLAGS = $(AM_CPPFLAGS) $(GMP_CFLAGS)
%C%_timing_LDADD = libtacit-crypto.la libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS)
check_PROGRAMS += %D%/lattice
%C%_lattice_SOURCES = %D%/lattice.c $(benchmark)
%C%_lattice_LDADD = libtacit-crypto.la libtacit-base.la $(TACIT_LIBS)
check_PROGRAMS += %D%/silo-columns
%C%_silo_columns_SOURCES = %D%/silo-columns.c $(benchmark)
%C%_silo_columns_LDADD = libtacit-silo.la libtacit-crypto.la libtacit-base.la $(TACIT_LIBS) $(SERVE_LIBS)
check_PROGRAMS += %D%/silo-he
%C%_silo_he_SOURCES = %D%/silo-he.c $(benchmark)
%C%_silo_he_LDADD = libtacit-crypto.la libtacit-base.la $(TACIT_LIBS) $(SERVE_LIBS)
check_PROGRAMS += %D%/silo-pvi
%C%_silo_pvi_SOURCES = %D%/silo-pvi.c %D%/women.c %D%/women.h $(bench_options) $(benchmark)
%C%_silo_pvi_LDADD = libtacit.la -lm

check_PROGRAMS += %D%/silo-images
bench_networks = %D%/networks.c %D%/networks.h
%C%_silo_images_SOURCES = %D%/silo-images.c $(bench_networks) $(benchmark)
%C%_silo_images_LDADD = examples/images.$(OBJEXT) libtacit-serve.la libtacit.la -lm
check_PROGRAMS += %D%/silo-split
%C%_silo_split_SOURCES = %D%/silo-split.c $(bench_networks) $(benchmark)
%C%_silo_split_LDADD = examples/images.$(OBJEXT) libtacit-serve.la libtacit.la -lm
check_PROGRAMS += %D%/silo-psi
%C%_silo_psi_SOURCES = %D%/silo-psi.c $(benchmark)
%C%_silo_psi_LDADD = libtacit-silo.la libtacit-base.la $(TACIT_LIBS) $(SERVE_LIBS)
check_PROGRAMS += %D%/silo-regression
%C%_silo_regression_SOURCES = %D%/silo-regression.c $(benchmark)
%C%_silo_regression_LDADD = libtacit-silo.la libtacit-crypto.la libtacit-wire.la libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS)
check_PROGRAMS += %D%/silo-hosts
%C%_silo_hosts_SOURCES = %D%/silo-hosts.c $(benchmark)
%C%_silo_hosts_LDADD = examples/images.$(OBJEXT) libtacit-silo.la libtacit-crypto.la libtacit-wire.la libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS)
if WITH_MPI
check_PROGRAMS += %D%/silo-hosts-owner
%C%_silo_hosts_owner_SOURCES = %D%/silo-hosts-owner.c $(bench_networks) $(benchmark)
%C%_silo_hosts_owner_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
%C%_silo_hosts_owner_LDADD = examples/images.$(OBJEXT) libtacit-mpi.la libtacit-serve.la libtacit.la $(MPI_LIBS) -lm
endif
check_PROGRAMS += %D%/silo-shirts
%C%_silo_shirts_SOURCES = %D%/silo-shirts.c $(benchmark)
%C%_silo_shirts_LDADD = examples/images.$(OBJEXT) libtacit-serve.la libtacit.la -lm
check_PROGRAMS += %D%/silo-trio
%C%_silo_trio_SOURCES = %D%/silo-trio.c %D%/processes.c %D%/processes.h $(benchmark)
%C%_silo_trio_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS)
%C%_silo_trio_LDADD = libtacit-silo.la libtacit-share.la libtacit-crypto.la libtacit-wire.la libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS)
check_PROGRAMS += %D%/silo-trio-answers
%C%_silo_trio_answers_SOURCES = %D%/silo-trio-answers.c $(benchmark)
%C%_silo_trio_answers_LDADD = libtacit-serve.la libtacit.la -lm
check_PROGRAMS += %D%/silo-sum
%C%_silo_sum_SOURCES = %D%/silo-sum.c $(benchmark)
%C%_silo_sum_LDADD = libtacit-silo.la libtacit-crypto.la libtacit-wire.la libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS)
endif

# Of outcomes of which a part is known.
check_PROGRAMS += %D%/parts
%C%_parts_SOURCES = %D%/parts.c $(bench_options) $(benchmark)
%C%_parts_LDADD = libtacit.la -lm

# Of the tool on large tables.
check_PROGRAMS += %D%/fit-table
%C%_fit_table_SOURCES = %D%/fit-table.c $(bench_options) $(benchmark)
%C%_fit_table_LDADD = libtacit.la -lm

# Commit, compiler and flags of the build; written again by each make that builds a benchmark.
%D%/bench.$(OBJEXT) %D%/bench_peers_tacit-bench.$(OBJEXT) %D%/serve_leakage-bench.$(OBJEXT) %D%/serve-bench.$(OBJEXT) %D%/share-bench.$(OBJEXT) %D%/silo_hosts_owner-bench.$(OBJEXT) %D%/silo_trio-bench.$(OBJEXT) %D%/wire-bench.$(OBJEXT): %D%/built.h
CLEANFILES += %D%/built.h
.PHONY: built-now
%D%/built.h: built-now
	@$(MKDIR_P) %D%
	@commit=`git -C $(srcdir) describe --always --dirty --abbrev=12 2>/dev/null || \
	  echo $(PACKAGE)-$(VERSION)`; \
	flags=`echo '$(CC) '\`$(CC) -dumpfullversion\`' $(CFLAGS) $(AM_CFLAGS)' | \
	  sed -e 's/ -W[^ ]*//g' -e 's/["\\\\]//g'`; \
	{ echo "#define BENCH_COMMIT \"$$commit\""; echo "#define BENCH_FLAGS \"$$flags\""; } >$@.new; \
	if cmp -s $@.new $@; then rm -f $@.new; else mv $@.new $@; fi

# The same work by other libraries, side by side: Python packages from outside the distribution, one
# virtual environment each under PEERS.  bench/peers/run says how they are made.
check_PROGRAMS += %D%/peers/tacit
%C%_peers_tacit_SOURCES = %D%/peers/tacit.c $(hierarchical) %D%/vae.c %D%/vae.h $(benchmark)
%C%_peers_tacit_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D%
%C%_peers_tacit_LDADD = libtacit.la -lm
PEERS = %D%/peers/environments
.PHONY: bench-peers
bench-peers: %D%/peers/tacit
	$(srcdir)/%D%/peers/run --tacit %D%/peers/tacit --environments $(PEERS)
EXTRA_DIST += %D%/peers/run %D%/peers/worker.py %D%/peers/vae_d3p.py %D%/peers/vae_jax_privacy.py \
  %D%/peers/vae_opacus.py %D%/peers/cnn_jax_privacy.py %D%/peers/cnn_opacus.py %D%/peers/hierarchical_d3p.py \
  %D%/peers/requirements-d3p.txt %D%/peers/requirements-jax.txt %D%/peers/requirements-opacus.txt
# One job of several owners, beside what others have for it; bench/peers/owners says how it is run.
EXTRA_DIST += %D%/peers/owners %D%/peers/owners_digits.py %D%/peers/owners_flower/client_app.py \
  %D%/peers/owners_flower/server_app.py %D%/peers/owners_flower/pyproject.toml %D%/peers/owners_nvflare/client.py \
  %D%/peers/owners_nvflare/job.py %D%/peers/owners_secretflow/job.py %D%/peers/requirements-flower.txt \
  %D%/peers/requirements-nvflare.txt %D%/peers/requirements-secretflow.txt

# doc/performance.md and its pictures: make performance PERFORMANCE_OPTIONS="--peers FILE"
EXTRA_DIST += %D%/performance.py
performance: %D%/limits %D%/vae_step %D%/vae_parts %D%/hierarchical_logistic %D%/b-records %D%/b-random %D%/b-threads
	/usr/bin/python3 $(srcdir)/bench/performance.py --build . $(PERFORMANCE_OPTIONS)
.PHONY: performance
