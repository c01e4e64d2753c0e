# Tests speak TAP; one program a source file, named t-<file>.
TEST_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' CMOCKA_MESSAGE_OUTPUT=TAP \
  $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(TEST_LOG_DRIVER)
AM_TESTS_ENVIRONMENT = top_srcdir='$(top_srcdir)' top_builddir='$(top_builddir)'; \
  export top_srcdir top_builddir; CC='$(CC)'; CFLAGS='$(CFLAGS)'; MAKE='$(MAKE)'; \
  PKG_CONFIG='$(PKG_CONFIG)'; export CC CFLAGS MAKE PKG_CONFIG; OPENBLAS_NUM_THREADS=1; export OPENBLAS_NUM_THREADS;

check_LTLIBRARIES = libcheck.la
libcheck_la_SOURCES = %D%/lib/check.c %D%/lib/check.h %D%/lib/comma.c %D%/lib/comma.h %D%/lib/crew.c %D%/lib/crew.h %D%/lib/numbers.c %D%/lib/numbers.h %D%/lib/pause.c %D%/lib/pause.h \
  %D%/lib/spaces.c %D%/lib/spaces.h
libcheck_la_CPPFLAGS = $(AM_CPPFLAGS) -UNDEBUG
TEST_INTERNAL = libcheck.la libtacit-internal.la $(TACIT_LIBS) $(CMOCKA_LIBS)
TEST_PUBLIC = libcheck.la libtacit.la $(CMOCKA_LIBS)
LDADD = $(TEST_INTERNAL)

# Too slow for every commit; make check-long builds and runs them.
LONG_TESTS =
EXTRA_PROGRAMS += $(LONG_TESTS)

include tests/faults/local.mk

if HAVE_CMOCKA
AM_CPPFLAGS += $(CMOCKA_CFLAGS)
UNIT_TESTS =
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
include tests/accountant/local.mk
include tests/base/local.mk
include tests/num/local.mk
include tests/random/local.mk
include tests/graph/local.mk
include tests/exec/local.mk
include tests/ledger/local.mk
include tests/model/local.mk
include tests/models/local.mk
include tests/svi/local.mk
include tests/fit/local.mk
include tests/infer/local.mk
include tests/audit/local.mk
include tests/dist/local.mk
include tests/formula/local.mk
include tests/language/local.mk
include tests/data/local.mk
include tests/program/local.mk
include tests/tools/local.mk
if SERVE
include tests/crypto/local.mk
include tests/fhe/local.mk
include tests/cluster/local.mk
include tests/silo/local.mk
include tests/wire/local.mk
include tests/share/local.mk
include tests/serve/local.mk
endif
else
check-local: no-cmocka
no-cmocka:
	@echo "make check needs cmocka (Debian: apt-get install libcmocka-dev); run configure again"
	@exit 1
endif
