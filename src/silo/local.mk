# Fits over several owners: programs, checks, secure sums and what moves them.
if SERVE
tacitinclude_HEADERS += include/tacit/relay.h include/tacit/silo-trio.h include/tacit/silo.h
noinst_LTLIBRARIES += libtacit-silo.la
libtacit_silo_la_SOURCES = %D%/audit.c %D%/audit.h %D%/carrier-folder.c %D%/carrier-memory.c \
  %D%/carrier.h %D%/check-columns.c %D%/check-inside.h %D%/check-key.c %D%/check-parts.c %D%/check-seen.c %D%/check-shares.c %D%/check.c %D%/check.h %D%/columns-grid.c %D%/columns-run.c %D%/columns-state.c %D%/columns-state.h %D%/columns-sum.c %D%/columns-sum.h %D%/columns.h %D%/describe.c \
  %D%/describe.h %D%/execute.c %D%/execute.h %D%/split-run.c %D%/split-run.h %D%/joint-columns.c %D%/joint-shares.c %D%/joint.c %D%/joint.h %D%/kept.c %D%/key-sum.c %D%/key-sum.h %D%/labels.c %D%/labels.h %D%/keys.c %D%/keys.h \
  %D%/masks.c %D%/masks.h %D%/part.h %D%/pay-columns.c %D%/pay-columns.h %D%/place.c %D%/plan-columns.c %D%/plan-openings.c %D%/plan-read.c %D%/plan-sign.c %D%/plan-split.c %D%/plan-trio.c %D%/plan.c %D%/plan.h \
  %D%/policy.c %D%/policy.h %D%/post.c %D%/post.h %D%/print.c %D%/print.h %D%/program.c \
  %D%/program.h %D%/psi-link.c %D%/psi.c %D%/psi.h %D%/relay-box.c %D%/relay-box.h %D%/relay-request.c %D%/relay-request.h \
  %D%/relay-visit.c %D%/relay-visit.h %D%/relay.c %D%/round.c %D%/round.h %D%/rules-read.c \
  %D%/rules.c %D%/rules.h %D%/run-columns.c %D%/run-split.c %D%/run-split.h %D%/run-trio.c %D%/run.c %D%/run.h %D%/schedule-run.c %D%/schedule.c %D%/schedule.h %D%/split.c %D%/split.h %D%/state.c %D%/state.h %D%/steps.c %D%/sums.c %D%/sums.h %D%/trio-grid.c %D%/trio-links.c %D%/trio-links.h %D%/trio-openings.c %D%/trio-openings.h %D%/trio-rows.c %D%/trio-rows.h %D%/trio-run.c %D%/trio-run.h %D%/trio-state.c %D%/trio-state.h %D%/trio-steps.c %D%/trio-terms.c %D%/trio.h
libtacit_silo_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS)
if CURL
libtacit_silo_la_SOURCES += %D%/carrier-https.c
else
libtacit_silo_la_SOURCES += %D%/carrier-no-https.c
endif
libtacit_serve_convenience += libtacit-silo.la
endif
