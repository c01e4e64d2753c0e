libtacit_core_la_SOURCES += \
  %D%/answer.c %D%/answer.h \
  %D%/arrow.c %D%/arrow.h \
  %D%/attempts.c %D%/attempts.h \
  %D%/average.c %D%/average.h \
  %D%/bending.c %D%/bending.h \
  %D%/budget.c %D%/budget.h \
  %D%/centre.c %D%/centre.h \
  %D%/clip.c %D%/clip.h \
  %D%/cloud.c %D%/cloud.h \
  %D%/diagnose.c %D%/diagnose.h \
  %D%/doubt.c %D%/doubt.h \
  %D%/drift.c %D%/drift.h \
  %D%/excess.c %D%/excess.h \
  %D%/exact.c %D%/exact.h \
  %D%/exact-words.c %D%/exact-words.h \
  %D%/hmc.c %D%/hmc.h \
  %D%/infer.c \
  %D%/journal.c %D%/journal.h \
  %D%/journal-record.c %D%/journal-record.h \
  %D%/keeper.c %D%/keeper.h \
  %D%/laplace.c %D%/laplace.h \
  %D%/law.c %D%/law.h \
  %D%/loop.c %D%/loop.h \
  %D%/loop-budget.c %D%/loop-budget.h \
  %D%/loop-guide.c %D%/loop-guide.h \
  %D%/loop-keep.c %D%/loop-keep.h \
  %D%/loop-report.c %D%/loop-report.h \
  %D%/members.c %D%/members.h \
  %D%/metric.c %D%/metric.h \
  %D%/inquiries.c %D%/inquiries.h \
  %D%/invent.c %D%/invent.h \
  %D%/mixing.c %D%/mixing.h \
  %D%/mode.c %D%/mode.h \
  %D%/nuts.c %D%/nuts.h \
  %D%/opened.c %D%/opened.h \
  %D%/openings.c \
  %D%/posterior.c %D%/posterior.h \
  %D%/prior.c %D%/prior.h \
  %D%/progress.c %D%/progress.h \
  %D%/psi.c %D%/psi.h \
  %D%/view.c %D%/view.h \
  %D%/plan.c %D%/plan.h %D%/plan-curve.c %D%/plan-print.c %D%/plan-study.c %D%/plan-study.h \
  %D%/recorded.c %D%/recorded.h \
  %D%/resume.c %D%/resume.h \
  %D%/rounds.c %D%/rounds.h \
  %D%/rows.c %D%/rows.h \
  %D%/scaling.c %D%/scaling.h \
  %D%/secant.c %D%/secant.h \
  %D%/scan.c %D%/scan.h \
  %D%/scanner.c %D%/scanner.h \
  %D%/settled.c \
  %D%/shared.c %D%/shared.h \
  %D%/surrogate.c %D%/surrogate.h \
  %D%/walks.c %D%/walks.h \
  %D%/whiten.c %D%/whiten.h \
  %D%/whitening.c %D%/whitening.h
