# Every fuzz-<name>.c is a libFuzzer target (make check-fuzz) and, linked with replay.c, a test that
# replays its corpus.
REPLAYERS = %D%/replay-checkpoint %D%/replay-csv %D%/replay-draft %D%/replay-estimates %D%/replay-fit %D%/replay-formula %D%/replay-idx %D%/replay-journal %D%/replay-npy %D%/replay-plan %D%/replay-records \
  %D%/replay-schema %D%/replay-sheet
check_PROGRAMS += $(REPLAYERS)
TESTS += $(REPLAYERS)
%C%_replay_checkpoint_SOURCES = %D%/fuzz-checkpoint.c %D%/replay.c %D%/fuzz.h
%C%_replay_checkpoint_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/checkpoint"'
%C%_replay_checkpoint_LDADD = libtacit-core.la libtacit-accountant.la $(TACIT_LIBS)
%C%_replay_csv_SOURCES = %D%/fuzz-csv.c %D%/replay.c %D%/fuzz.h
%C%_replay_csv_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/csv"'
%C%_replay_csv_LDADD = libtacit-core.la libtacit-accountant.la $(TACIT_LIBS)
%C%_replay_draft_SOURCES = %D%/fuzz-draft.c %D%/replay.c %D%/fuzz.h
%C%_replay_draft_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/draft"'
%C%_replay_draft_LDADD = libtacit-core.la libtacit-accountant.la $(TACIT_LIBS)
%C%_replay_fit_SOURCES = %D%/fuzz-fit.c %D%/replay.c %D%/fuzz.h
%C%_replay_fit_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/fit"'
%C%_replay_fit_LDADD = libtacit-core.la libtacit-accountant.la $(TACIT_LIBS)
%C%_replay_formula_SOURCES = %D%/fuzz-formula.c %D%/replay.c %D%/fuzz.h
%C%_replay_formula_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/formula"'
%C%_replay_formula_LDADD = libtacit-core.la libtacit-accountant.la $(TACIT_LIBS)
%C%_replay_idx_SOURCES = %D%/fuzz-idx.c %D%/replay.c %D%/fuzz.h
%C%_replay_idx_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/idx"'
%C%_replay_idx_LDADD = libtacit-core.la libtacit-accountant.la $(TACIT_LIBS)
%C%_replay_journal_SOURCES = %D%/fuzz-journal.c %D%/replay.c %D%/fuzz.h
%C%_replay_journal_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/journal"'
%C%_replay_journal_LDADD = libtacit-core.la libtacit-accountant.la $(TACIT_LIBS)
%C%_replay_npy_SOURCES = %D%/fuzz-npy.c %D%/replay.c %D%/fuzz.h
%C%_replay_npy_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/npy"'
%C%_replay_npy_LDADD = libtacit-core.la libtacit-accountant.la $(TACIT_LIBS)
%C%_replay_records_SOURCES = %D%/fuzz-records.c %D%/replay.c %D%/fuzz.h
%C%_replay_records_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/records"'
%C%_replay_records_LDADD = libtacit-core.la libtacit-accountant.la $(TACIT_LIBS)
%C%_replay_schema_SOURCES = %D%/fuzz-schema.c %D%/replay.c %D%/fuzz.h
%C%_replay_schema_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/schema"'
%C%_replay_schema_LDADD = libtacit-core.la libtacit-accountant.la $(TACIT_LIBS)
%C%_replay_sheet_SOURCES = %D%/fuzz-sheet.c %D%/replay.c %D%/fuzz.h
%C%_replay_sheet_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/sheet"'
%C%_replay_sheet_LDADD = libtacit-core.la libtacit-accountant.la $(TACIT_LIBS)
plan_sources = tools/plan.c tools/plan.h tools/mechanism.c tools/mechanism.h \
  tools/option-table.c tools/options.c \
  tools/options.h
%C%_replay_plan_SOURCES = %D%/fuzz-plan.c %D%/replay.c %D%/fuzz.h $(plan_sources)
%C%_replay_plan_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/plan"'
%C%_replay_plan_LDADD = -lm
# What tacit combine reads.
%C%_replay_estimates_SOURCES = %D%/fuzz-estimates.c %D%/replay.c %D%/fuzz.h tools/estimates.c tools/estimates.h \
  tools/option-table.c tools/options.c tools/options.h
%C%_replay_estimates_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/estimates"'
%C%_replay_estimates_LDADD = -lm
# Of private serving.
if SERVE
REPLAYERS += %D%/replay-circuit %D%/replay-ckks %D%/replay-ckks-row %D%/replay-frame %D%/replay-hello %D%/replay-identity %D%/replay-lattice %D%/replay-letter %D%/replay-onnx \
  %D%/replay-paillier %D%/replay-parties %D%/replay-policy %D%/replay-request %D%/replay-shared %D%/replay-silo-plan
fuzz_all_libs = libtacit-serve-core.la libtacit-onnx.la libtacit-fhe.la libtacit-crypto.la libtacit-share.la libtacit-wire.la \
  libtacit-core.la libtacit-accountant.la $(TACIT_LIBS) $(SERVE_LIBS)
%C%_replay_ckks_SOURCES = %D%/fuzz-ckks.c %D%/replay.c %D%/fuzz.h
%C%_replay_ckks_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/ckks"'
%C%_replay_ckks_LDADD = libtacit-fhe.la libtacit-crypto.la libtacit-base.la $(SODIUM_LIBS) $(GMP_LIBS) -lm
%C%_replay_ckks_row_SOURCES = %D%/fuzz-ckks-row.c %D%/replay.c %D%/fuzz.h
%C%_replay_ckks_row_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/ckks-row"'
%C%_replay_ckks_row_LDADD = $(fuzz_all_libs)
%C%_replay_circuit_SOURCES = %D%/fuzz-circuit.c %D%/replay.c %D%/fuzz.h
%C%_replay_circuit_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/circuit"'
%C%_replay_circuit_LDADD = $(fuzz_all_libs)
%C%_replay_frame_SOURCES = %D%/fuzz-frame.c %D%/replay.c %D%/fuzz.h
%C%_replay_frame_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS) -DCORPUS='"fuzz/corpus/frame"'
%C%_replay_frame_LDADD = libtacit-wire.la libtacit-base.la $(OPENSSL_LIBS)
%C%_replay_hello_SOURCES = %D%/fuzz-hello.c %D%/replay.c %D%/fuzz.h
%C%_replay_hello_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS) -DCORPUS='"fuzz/corpus/hello"'
%C%_replay_hello_LDADD = $(fuzz_all_libs)
%C%_replay_parties_SOURCES = %D%/fuzz-parties.c %D%/replay.c %D%/fuzz.h
%C%_replay_parties_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS) -DCORPUS='"fuzz/corpus/parties"'
%C%_replay_parties_LDADD = $(fuzz_all_libs)
%C%_replay_shared_SOURCES = %D%/fuzz-shared.c %D%/replay.c %D%/fuzz.h
%C%_replay_shared_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS) -DCORPUS='"fuzz/corpus/shared"'
%C%_replay_shared_LDADD = $(fuzz_all_libs)
%C%_replay_identity_SOURCES = %D%/fuzz-identity.c %D%/replay.c %D%/fuzz.h
%C%_replay_identity_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS) -DCORPUS='"fuzz/corpus/identity"'
%C%_replay_identity_LDADD = libtacit-wire.la libtacit-base.la $(OPENSSL_LIBS)
%C%_replay_lattice_SOURCES = %D%/fuzz-lattice.c %D%/replay.c %D%/fuzz.h
%C%_replay_lattice_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/lattice"'
%C%_replay_lattice_LDADD = libtacit-crypto.la libtacit-base.la $(SODIUM_LIBS) $(GMP_LIBS) -lm
%C%_replay_onnx_SOURCES = %D%/fuzz-onnx.c %D%/replay.c %D%/fuzz.h
%C%_replay_onnx_CPPFLAGS = $(AM_CPPFLAGS) $(PROTOBUF_C_CFLAGS) $(ONNX_CFLAGS) -DCORPUS='"fuzz/corpus/onnx"'
%C%_replay_onnx_LDADD = $(fuzz_all_libs)
$(%C%_replay_onnx_OBJECTS): generated/onnx.pb-c.h
%C%_replay_paillier_SOURCES = %D%/fuzz-paillier.c %D%/replay.c %D%/fuzz.h
%C%_replay_paillier_CPPFLAGS = $(AM_CPPFLAGS) $(GMP_CFLAGS) -DCORPUS='"fuzz/corpus/paillier"'
%C%_replay_paillier_LDADD = libtacit-crypto.la libtacit-base.la $(SODIUM_LIBS) $(GMP_LIBS) -lm
%C%_replay_policy_SOURCES = %D%/fuzz-policy.c %D%/replay.c %D%/fuzz.h
%C%_replay_policy_CPPFLAGS = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS) -DCORPUS='"fuzz/corpus/policy"'
%C%_replay_policy_LDADD = libtacit-wire.la libtacit-base.la $(OPENSSL_LIBS)
%C%_replay_letter_SOURCES = %D%/fuzz-letter.c %D%/replay.c %D%/fuzz.h
%C%_replay_letter_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/letter"'
%C%_replay_letter_LDADD = libtacit-silo.la $(fuzz_all_libs)
%C%_replay_request_SOURCES = %D%/fuzz-request.c %D%/replay.c %D%/fuzz.h
%C%_replay_request_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/request"'
%C%_replay_request_LDADD = libtacit-silo.la $(fuzz_all_libs)
%C%_replay_silo_plan_SOURCES = %D%/fuzz-silo-plan.c %D%/replay.c %D%/fuzz.h
%C%_replay_silo_plan_CPPFLAGS = $(AM_CPPFLAGS) -DCORPUS='"fuzz/corpus/silo-plan"'
%C%_replay_silo_plan_LDADD = libtacit-silo.la $(fuzz_all_libs)
fuzz_serve_sources = $(libtacit_silo_la_SOURCES) $(libtacit_wire_la_SOURCES) $(libtacit_crypto_la_SOURCES) $(libtacit_fhe_la_SOURCES) $(libtacit_share_la_SOURCES) \
  $(libtacit_serve_core_la_SOURCES) $(onnx_schema)
fuzz_serve_libs = $(SERVE_LIBS)
fuzz_serve_flags = $(OPENSSL_CFLAGS) $(GMP_CFLAGS) $(PROTOBUF_C_CFLAGS) $(ONNX_CFLAGS)
else
fuzz_without = circuit ckks ckks-row frame hello identity lattice letter onnx paillier parties policy request shared silo-plan
endif
EXTRA_DIST += %D%/corpus

FUZZ_SECONDS = 60
check-fuzz: $(REPLAYERS)
	$(AM_V_at)FUZZ_SECONDS='$(FUZZ_SECONDS)' CPPFLAGS='$(AM_CPPFLAGS) $(fuzz_serve_flags) -I.' LIBS='$(TACIT_LIBS) $(fuzz_serve_libs) -lm' \
	  FUZZ_WITHOUT='$(fuzz_without)' \
	  $(SHELL) $(top_srcdir)/tools/check-fuzz '$(top_srcdir)' $(libtacit_base_la_SOURCES) $(libtacit_core_la_SOURCES) \
	  $(libtacit_accountant_la_SOURCES) $(plan_sources) tools/estimates.c $(fuzz_serve_sources)
	$(AM_V_at)$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(REPLAYERS)'
.PHONY: check-fuzz
