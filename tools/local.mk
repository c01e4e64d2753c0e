# Checks of the source and of the built library; all but the slow ones belong to make check.
dist_check_SCRIPTS += %D%/check-layers %D%/check-names %D%/check-operations %D%/check-patches %D%/check-symbols %D%/check-headers %D%/check-install \
  %D%/check-version tests/base/check-arithmetic tests/tools/check-resume \
  tests/tools/check-bounds tests/tools/check-contrib tests/tools/check-export tests/tools/check-synth tests/tools/check-fitting tests/tools/check-plan tests/tools/check-tacit tests/tools/check-keys tests/tools/check-ledger tests/tools/check-fit tests/tools/check-schema tests/tools/check-report tests/tools/check-tutorial \
  tests/tools/check-program tests/tools/check-serve tests/tools/check-silo tests/tools/check-silo-columns tests/tools/check-silo-trio
dist_check_SCRIPTS += tests/tools/check-inputs
dist_check_SCRIPTS += tests/tools/check-leaks tests/tools/check-faults
TESTS += $(dist_check_SCRIPTS)
EXTRA_DIST += contrib/README.md contrib/R/tacit.R contrib/python/tacit_fit.py %D%/check-fuzz %D%/lib.sh %D%/make-contraception.R %D%/make-xor.py %D%/read-fit.py %D%/run-test tests/symbols.txt tests/symbols-serve.txt tests/tools/central.awk tests/tools/fitting.expected tests/tools/schema.expected tests/tools/inputs.expected tests/tools/postgresql.expected tests/tools/faults.expected

# Pictures are drawn by gnuplot, a program of its own that is looked for when one is drawn.
picture_sources = tools/gnuplot.c tools/gnuplot.h tools/picture.c tools/picture.h tools/picture-inline.c \
  tools/picture-inline.h tools/text.c tools/text.h

# The command, its manual and its completion in bash.
bin_PROGRAMS += tacit
tacit_SOURCES = $(plan_sources) $(picture_sources) %D%/watch.c %D%/watch.h %D%/answer.c %D%/answer.h %D%/curves.c %D%/curves.h %D%/json.c \
  %D%/json.h %D%/plot.c %D%/plot.h %D%/forecast.h %D%/forecast-picture.c %D%/forecast-tell.c %D%/forecast-wishes.c \
  %D%/invent.c %D%/invent.h %D%/modelling.c %D%/modelling.h %D%/postgresql.c %D%/postgresql.h %D%/table-source.c %D%/table-source.h %D%/tell-fit.c %D%/tell-fit.h \
  %D%/spread.c %D%/spread.h %D%/report.h %D%/report-answer.c %D%/report-effects.c \
  %D%/report-model.c %D%/report-origin.c %D%/report-page.c %D%/report-privacy.c %D%/report-style.c %D%/report-style.h \
  %D%/draw-set.c %D%/draw-set.h %D%/export.h %D%/export-csv.c %D%/export-netcdf.c %D%/export-notes.c \
  %D%/new-file.c %D%/new-file.h %D%/tacit-export.c %D%/report-twins.c %D%/tacit-report.c \
  %D%/tacit-account.c %D%/tacit-audit.c %D%/tacit-bounds.c %D%/tacit-fit.c %D%/tacit-ledger.c \
  %D%/tacit-plan.c %D%/tacit-predict.c %D%/tacit-schema.c %D%/tacit-summary.c %D%/tacit.c %D%/tacit.h
tacit_CPPFLAGS = $(AM_CPPFLAGS) -DTACIT_VERSION='"$(PACKAGE_VERSION)"' $(NETCDF_CFLAGS)
if NETCDF
tacit_CPPFLAGS += -DTACIT_NETCDF
endif
tacit_LDADD = libtacit.la $(SODIUM_LIBS) $(NETCDF_LIBS) -lm
if POSTGRESQL
tacit_CPPFLAGS += $(PQ_CFLAGS) -DHAVE_LIBPQ
tacit_LDADD += $(PQ_LIBS)
endif
man1_MANS = doc/man/tacit.1 doc/man/tacit-fit.1 doc/man/tacit-plan.1 doc/man/tacit-summary.1 doc/man/tacit-predict.1 doc/man/tacit-export.1 doc/man/tacit-report.1 doc/man/tacit-schema.1 doc/man/tacit-audit.1 doc/man/tacit-bounds.1 doc/man/tacit-delta.1 doc/man/tacit-epsilon.1 doc/man/tacit-ledger.1 doc/man/tacit-risk.1 \
  doc/man/tacit-sigma.1
# Twins and their combination; the quantiles of Student's law are GSL's.
tacit_SOURCES += %D%/closeness.c %D%/closeness.h %D%/combining.c %D%/combining.h %D%/estimates.c %D%/estimates.h \
  %D%/grid.c %D%/grid.h %D%/payer.c %D%/payer.h %D%/predictors.c %D%/predictors.h %D%/sheet.c %D%/sheet.h \
  %D%/tacit-combine.c %D%/tacit-synth.c %D%/tell-twins.c %D%/tell-twins.h %D%/tree.c %D%/tree.h %D%/twin.c %D%/twin.h
tacit_LDADD += $(GSL_LIBS)
man1_MANS += doc/man/tacit-combine.1 doc/man/tacit-synth.1
if SERVE
tacit_SOURCES += %D%/load-program.c %D%/load-program.h %D%/records.c %D%/records.h %D%/silo.h %D%/silo-coefficients.c %D%/silo-columns.c \
  %D%/silo-columns.h %D%/silo-columns-run.c %D%/silo-plan.c \
  %D%/silo-relay.c %D%/silo-run.c %D%/silo-simulate.c %D%/silo-tell.c %D%/silo-trio.c %D%/silo-trio.h %D%/silo-trio-run.c %D%/tacit-ask.c \
  %D%/tacit-keys.c %D%/tacit-party.c %D%/tacit-program.c %D%/tacit-serve.c %D%/tacit-share.c %D%/tacit-silo.c
tacit_CPPFLAGS += -DTACIT_SERVE
tacit_LDADD += libtacit-serve.la
man1_MANS += doc/man/tacit-ask.1 doc/man/tacit-keys.1 doc/man/tacit-party.1 doc/man/tacit-program.1 doc/man/tacit-serve.1 \
  doc/man/tacit-share.1 doc/man/tacit-silo.1
endif
bashcompdir = $(datadir)/bash-completion/completions
dist_bashcomp_DATA = %D%/completion/tacit

# The figures of doc, which are kept in the tree.
EXTRA_PROGRAMS += %D%/figure-fixed-size
%C%_figure_fixed_size_SOURCES = %D%/figure-fixed-size.c %D%/plot.c %D%/plot.h
%C%_figure_fixed_size_LDADD = libtacit.la -lm
CLEANFILES += %D%/figure-fixed-size run-test.lock
figures: %D%/figure-fixed-size
	$(AM_V_GEN)%D%/figure-fixed-size >fixed-size.svg && \
	  mv fixed-size.svg $(srcdir)/doc/figures/fixed-size.svg
.PHONY: figures

RUN_TEST = $(SHELL) $(top_srcdir)/%D%/run-test
LOG_COMPILER = $(RUN_TEST)

# Unit tests under valgrind: no invalid access, no leak.  It computes long double in 64 bits, so the
# tests that take their reference from it are left to check-asan.  Where OpenSSL uses
# AVX, valgrind takes keys of TLS's exporter for bytes that nobody has written (the stack of its SHA-256,
# it says), and all that follows from them: OpenSSL is told that there is none.
LONG_DOUBLE_TESTS = tests/graph/t-op tests/random/t-grid-error
VALGRIND_FLAGS = --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect \
  --errors-for-leak-kinds=definite,indirect --child-silent-after-fork=yes
check-valgrind: $(check_PROGRAMS)
	@test -n '$(VALGRIND)' || \
	  { echo 'valgrind is missing (Debian: apt-get install valgrind); run configure again'; exit 1; }
	tests=; for t in $(UNIT_TESTS); do \
	  case ' $(LONG_DOUBLE_TESTS) ' in *" $$t "*) ;; *) tests="$$tests $$t" ;; esac; done; \
	OPENSSL_ia32cap='~0x1000000000000000' $(MAKE) $(AM_MAKEFLAGS) check TESTS="$$tests" \
	  LOG_COMPILER='$(RUN_TEST) $(LIBTOOL) --mode=execute $(VALGRIND) $(VALGRIND_FLAGS)'

# All tests under the address and undefined-behaviour sanitizers, in a build folder of their own.
check-asan:
	$(MKDIR_P) asan
	cd asan && $(abs_top_srcdir)/configure --silent --enable-sanitize CC='$(CC)' CFLAGS='-g -O1'
	cd asan && $(MAKE) $(AM_MAKEFLAGS) check

# make check, then LONG_TESTS (tests/local.mk), which are too slow for every commit.  Automake has no
# rules for logs of tests that are not in TESTS.
check-long: check
	$(MAKE) $(AM_MAKEFLAGS) check-long-alone
check-long-alone: $(LONG_TESTS)
	@failed=; $(AM_TESTS_ENVIRONMENT) CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	for t in $(LONG_TESTS); do \
	  if $(RUN_TEST) ./$$t >$$t.log 2>&1 && ! grep -q '^not ok' $$t.log; then \
	    echo "PASS: $$t"; else echo "FAIL: $$t"; tail -n 20 $$t.log; failed="$$failed $$t"; fi; \
	done; test -z "$$failed"

CLANG_FORMAT = clang-format
check-format:
	cd $(srcdir) && find include src models accountant examples tools tests fuzz bench \
	  -name '*.[ch]' -exec $(CLANG_FORMAT) --dry-run -Werror {} +
	@cd $(srcdir) && if find include src models accountant examples tools tests fuzz bench \
	  -name '*.[ch]' -exec grep -nE '^.{101,}' {} + ; then \
	  echo "the lines above are longer than 100 columns" >&2; exit 1; fi
.PHONY: check-asan check-format check-long check-long-alone check-valgrind
