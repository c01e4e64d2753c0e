tacitinclude_HEADERS += \
  %D%/tacit/accountant.h \
  %D%/tacit/algebra.h \
  %D%/tacit/audit.h \
  %D%/tacit/bounds.h \
  %D%/tacit/dataset.h \
  %D%/tacit/dist.h \
  %D%/tacit/dist-counts.h \
  %D%/tacit/export.h \
  %D%/tacit/fit.h \
  %D%/tacit/expr.h \
  %D%/tacit/formula.h \
  %D%/tacit/group.h \
  %D%/tacit/infer.h \
  %D%/tacit/idx.h \
  %D%/tacit/ledger.h \
  %D%/tacit/marginal.h \
  %D%/tacit/model.h \
  %D%/tacit/models.h \
  %D%/tacit/multivariate.h \
  %D%/tacit/npy.h \
  %D%/tacit/random.h \
  %D%/tacit/simulate.h \
  %D%/tacit/smooth.h \
  %D%/tacit/status.h \
  %D%/tacit/svi.h \
  %D%/tacit/table.h \
  %D%/tacit/tacit.h
