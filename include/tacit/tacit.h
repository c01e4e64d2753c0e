/* All of Tacit. */
#ifndef TACIT_TACIT_H
#define TACIT_TACIT_H

#include <tacit/accountant.h>
#include <tacit/algebra.h>
#include <tacit/audit.h>
#include <tacit/bounds.h>
#include <tacit/counts.h>
#include <tacit/dataset.h>
#include <tacit/dist-counts.h>
#include <tacit/dist.h>
#include <tacit/expr.h>
#include <tacit/fit.h>
#include <tacit/forms.h>
#include <tacit/formula.h>
#include <tacit/group.h>
#include <tacit/groups.h>
#include <tacit/idx.h>
#include <tacit/infer.h>
#include <tacit/ledger.h>
#include <tacit/lower.h>
#include <tacit/marginal.h>
#include <tacit/model.h>
#include <tacit/models.h>
#include <tacit/multivariate.h>
#include <tacit/npy.h>
#include <tacit/owners.h>
#include <tacit/plan.h>
#include <tacit/program.h>
#include <tacit/random.h>
#include <tacit/schema.h>
#include <tacit/simulate.h>
#include <tacit/smooth.h>
#include <tacit/split.h>
#include <tacit/status.h>
#include <tacit/svi.h>
#include <tacit/table.h>

#endif
