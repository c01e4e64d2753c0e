TEST_SILO = libcheck.la libtacit-silo.la libtacit-wire.la libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS) $(CMOCKA_LIBS)
silo_owners = %D%/owners.c %D%/owners.h
UNIT_TESTS += %D%/t-audit %D%/t-carrier %D%/t-check %D%/t-columns-sum %D%/t-keys %D%/t-masks %D%/t-post %D%/t-program %D%/t-psi %D%/t-round
%C%_t_audit_LDADD = $(TEST_SILO)
%C%_t_carrier_LDADD = $(TEST_SILO)
%C%_t_check_LDADD = $(TEST_SILO)
%C%_t_keys_LDADD = $(TEST_SILO)
%C%_t_post_SOURCES = %D%/t-post.c $(silo_owners)
%C%_t_post_LDADD = $(TEST_SILO)
%C%_t_masks_LDADD = $(TEST_SILO)
%C%_t_program_LDADD = $(TEST_SILO)
%C%_t_psi_SOURCES = %D%/t-psi.c $(silo_owners)
%C%_t_psi_LDADD = $(TEST_SILO)
%C%_t_round_SOURCES = %D%/t-round.c $(silo_owners)
%C%_t_round_LDADD = $(TEST_SILO)
%C%_t_columns_sum_LDADD = libcheck.la libtacit-silo.la libtacit-crypto.la libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS) \
  $(CMOCKA_LIBS)
