TEST_SERVE = libcheck.la libtacit-serve-core.la libtacit-onnx.la libtacit-fhe.la libtacit-crypto.la libtacit-share.la libtacit-wire.la \
  libtacit-internal.la $(TACIT_LIBS) $(SERVE_LIBS) $(CMOCKA_LIBS)
serve_scene = %D%/scene.c %D%/scene.h
serve_flags = $(AM_CPPFLAGS) $(OPENSSL_CFLAGS) $(GMP_CFLAGS)
UNIT_TESTS += %D%/t-ask %D%/t-killed %D%/t-order %D%/t-serve %D%/t-server
%C%_t_killed_SOURCES = %D%/t-killed.c %D%/relay.c %D%/relay.h $(serve_scene)
%C%_t_killed_CPPFLAGS = $(serve_flags)
%C%_t_killed_LDADD = $(TEST_SERVE)
%C%_t_ask_SOURCES = %D%/t-ask.c %D%/host.c %D%/host.h $(serve_scene)
%C%_t_order_SOURCES = %D%/t-order.c %D%/host.c %D%/host.h $(serve_scene)
%C%_t_order_CPPFLAGS = $(serve_flags)
%C%_t_order_LDADD = $(TEST_SERVE)
%C%_t_ask_CPPFLAGS = $(serve_flags)
%C%_t_ask_LDADD = $(TEST_SERVE)
UNIT_TESTS += %D%/t-circuit %D%/t-circuit-refused %D%/t-ckks-memory
%C%_t_ckks_memory_SOURCES = %D%/t-ckks-memory.c $(serve_scene) $(faulty)
%C%_t_ckks_memory_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_ckks_memory_LDADD = $(TEST_SERVE)
%C%_t_circuit_SOURCES = %D%/t-circuit.c $(serve_scene)
%C%_t_circuit_LDADD = $(TEST_SERVE)
%C%_t_circuit_refused_SOURCES = %D%/t-circuit-refused.c $(serve_scene)
%C%_t_circuit_refused_LDADD = $(TEST_SERVE)
%C%_t_serve_SOURCES = %D%/t-serve.c $(serve_scene)
%C%_t_serve_CPPFLAGS = $(serve_flags)
%C%_t_serve_LDADD = $(TEST_SERVE)
UNIT_TESTS += %D%/t-stream %D%/t-stream-cut %D%/t-stream-memory
%C%_t_stream_memory_SOURCES = %D%/t-stream-memory.c $(faulty)
%C%_t_stream_memory_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_stream_memory_LDADD = $(TEST_SERVE)
%C%_t_stream_cut_SOURCES = %D%/t-stream-cut.c %D%/relay.c %D%/relay.h $(serve_scene)
%C%_t_stream_cut_CPPFLAGS = $(serve_flags)
%C%_t_stream_cut_LDADD = $(TEST_SERVE)
%C%_t_stream_SOURCES = %D%/t-stream.c $(serve_scene)
%C%_t_stream_CPPFLAGS = $(serve_flags)
%C%_t_stream_LDADD = $(TEST_SERVE)
UNIT_TESTS += %D%/t-disk
%C%_t_disk_SOURCES = %D%/t-disk.c %D%/disk.c %D%/disk.h $(serve_scene)
%C%_t_disk_CPPFLAGS = $(serve_flags)
%C%_t_disk_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fsync
%C%_t_disk_LDADD = $(TEST_SERVE)
%C%_t_server_SOURCES = %D%/t-server.c $(serve_scene)
%C%_t_server_CPPFLAGS = $(serve_flags)
%C%_t_server_LDADD = $(TEST_SERVE)
UNIT_TESTS += %D%/t-prepared %D%/t-prepared-memory %D%/t-masks
%C%_t_prepared_memory_SOURCES = %D%/t-prepared-memory.c $(serve_scene) $(faulty)
%C%_t_prepared_memory_CPPFLAGS = $(serve_flags)
%C%_t_prepared_memory_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_prepared_memory_LDADD = $(TEST_SERVE)
%C%_t_prepared_SOURCES = %D%/t-prepared.c %D%/host.c %D%/host.h $(serve_scene)
%C%_t_prepared_CPPFLAGS = $(serve_flags)
%C%_t_prepared_LDADD = $(TEST_SERVE)
%C%_t_masks_SOURCES = %D%/t-masks.c $(serve_scene)
%C%_t_masks_CPPFLAGS = $(serve_flags)
%C%_t_masks_LDADD = $(TEST_SERVE)
UNIT_TESTS += %D%/t-answers
%C%_t_answers_CPPFLAGS = $(serve_flags)
%C%_t_answers_LDADD = $(TEST_SERVE)
UNIT_TESTS += %D%/t-orders
%C%_t_orders_SOURCES = %D%/t-orders.c tests/wire/pair.c tests/wire/pair.h
%C%_t_orders_CPPFLAGS = $(serve_flags)
%C%_t_orders_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fsync
%C%_t_orders_LDADD = $(TEST_SERVE)
parties_scene = %D%/daemons.c %D%/daemons.h $(serve_scene)
UNIT_TESTS += %D%/t-parties %D%/t-parties-hostile %D%/t-parties-killed %D%/t-parties-list %D%/t-parties-refused %D%/t-parties-told
%C%_t_parties_hostile_SOURCES = %D%/t-parties-hostile.c $(parties_scene)
%C%_t_parties_hostile_CPPFLAGS = $(serve_flags)
%C%_t_parties_hostile_LDADD = $(TEST_SERVE)
UNIT_TESTS += %D%/t-parties-disk
%C%_t_parties_disk_SOURCES = %D%/t-parties-disk.c %D%/disk.c %D%/disk.h $(parties_scene)
%C%_t_parties_disk_CPPFLAGS = $(serve_flags)
%C%_t_parties_disk_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fsync -Wl,--wrap=dpi_wire_send
%C%_t_parties_disk_LDADD = $(TEST_SERVE)
%C%_t_parties_told_SOURCES = %D%/t-parties-told.c $(parties_scene)
%C%_t_parties_told_CPPFLAGS = $(serve_flags)
%C%_t_parties_told_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=dpi_wire_send
%C%_t_parties_told_LDADD = $(TEST_SERVE)
%C%_t_parties_killed_SOURCES = %D%/t-parties-killed.c %D%/relay.c %D%/relay.h $(parties_scene)
%C%_t_parties_killed_CPPFLAGS = $(serve_flags)
%C%_t_parties_killed_LDADD = $(TEST_SERVE)
%C%_t_parties_refused_SOURCES = %D%/t-parties-refused.c $(parties_scene)
%C%_t_parties_refused_CPPFLAGS = $(serve_flags)
%C%_t_parties_refused_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=dpi_party_send_hello
%C%_t_parties_refused_LDADD = $(TEST_SERVE)
%C%_t_parties_SOURCES = %D%/t-parties.c $(parties_scene)
%C%_t_parties_CPPFLAGS = $(serve_flags)
%C%_t_parties_LDADD = $(TEST_SERVE)
UNIT_TESTS += %D%/t-parties-rounding
%C%_t_parties_rounding_SOURCES = %D%/t-parties-rounding.c $(parties_scene)
%C%_t_parties_rounding_CPPFLAGS = $(serve_flags)
%C%_t_parties_rounding_LDADD = $(TEST_SERVE)
%C%_t_parties_list_CPPFLAGS = $(serve_flags)
%C%_t_parties_list_LDADD = $(TEST_SERVE)
# 60 turned bits in make check, 2000 in make check-long.
parties_between = -Wl,--wrap=dpi_mesh_new -Wl,--wrap=dpi_lane_open -Wl,--wrap=dpi_lane_tell \
  -Wl,--wrap=dpi_lane_close -Wl,--wrap=dpi_party_model_lane
UNIT_TESTS += %D%/t-parties-cheats
%C%_t_parties_cheats_SOURCES = %D%/t-parties-cheats.c %D%/between.c %D%/between.h $(parties_scene)
%C%_t_parties_cheats_CPPFLAGS = $(serve_flags)
%C%_t_parties_cheats_LDFLAGS = $(AM_LDFLAGS) $(parties_between)
%C%_t_parties_cheats_LDADD = $(TEST_SERVE)
LONG_TESTS += %D%/parties-cheats-long
%C%_parties_cheats_long_SOURCES = %D%/t-parties-cheats.c %D%/between.c %D%/between.h $(parties_scene)
%C%_parties_cheats_long_CPPFLAGS = $(serve_flags) -DFLIPS=2000
%C%_parties_cheats_long_LDFLAGS = $(AM_LDFLAGS) $(parties_between)
%C%_parties_cheats_long_LDADD = $(TEST_SERVE)
UNIT_TESTS += %D%/t-parties-streams
%C%_t_parties_streams_SOURCES = %D%/t-parties-streams.c $(parties_scene)
%C%_t_parties_streams_CPPFLAGS = $(serve_flags)
%C%_t_parties_streams_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=EVP_EncryptInit_ex -Wl,--wrap=EVP_EncryptUpdate \
  -Wl,--wrap=dpi_deal_draw
%C%_t_parties_streams_LDADD = $(TEST_SERVE)
UNIT_TESTS += %D%/t-party-talk
%C%_t_party_talk_SOURCES = %D%/t-party-talk.c $(parties_scene)
%C%_t_party_talk_CPPFLAGS = $(serve_flags)
%C%_t_party_talk_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=dpi_wire_receive -Wl,--wrap=dpi_wire_send
%C%_t_party_talk_LDADD = $(TEST_SERVE)
UNIT_TESTS += %D%/t-plan
%C%_t_plan_LDADD = $(TEST_SERVE)
UNIT_TESTS += %D%/t-allot
%C%_t_allot_LDADD = $(TEST_SERVE)
onnx_net = %D%/onnx-net.c %D%/onnx-net.h %D%/onnx-naive.c %D%/onnx-check.c
onnx_flags = $(AM_CPPFLAGS) $(PROTOBUF_C_CFLAGS) $(ONNX_CFLAGS)
UNIT_TESTS += %D%/t-onnx %D%/t-onnx-hostile %D%/t-onnx-image %D%/t-onnx-memory %D%/t-onnx-refused
%C%_t_onnx_SOURCES = %D%/t-onnx.c $(onnx_net)
%C%_t_onnx_CPPFLAGS = $(onnx_flags)
%C%_t_onnx_LDADD = $(TEST_SERVE)
$(%C%_t_onnx_OBJECTS): generated/onnx.pb-c.h
%C%_t_onnx_image_SOURCES = %D%/t-onnx-image.c $(onnx_net)
%C%_t_onnx_image_CPPFLAGS = $(onnx_flags)
%C%_t_onnx_image_LDADD = $(TEST_SERVE)
$(%C%_t_onnx_image_OBJECTS): generated/onnx.pb-c.h
%C%_t_onnx_hostile_SOURCES = %D%/t-onnx-hostile.c $(onnx_net)
%C%_t_onnx_hostile_CPPFLAGS = $(onnx_flags)
%C%_t_onnx_hostile_LDADD = $(TEST_SERVE)
$(%C%_t_onnx_hostile_OBJECTS): generated/onnx.pb-c.h
%C%_t_onnx_memory_SOURCES = %D%/t-onnx-memory.c $(onnx_net) $(faulty)
%C%_t_onnx_memory_CPPFLAGS = $(onnx_flags)
%C%_t_onnx_memory_LDFLAGS = $(AM_LDFLAGS) $(FAULTY_LINK)
%C%_t_onnx_memory_LDADD = $(TEST_SERVE)
$(%C%_t_onnx_memory_OBJECTS): generated/onnx.pb-c.h
%C%_t_onnx_refused_SOURCES = %D%/t-onnx-refused.c $(onnx_net)
%C%_t_onnx_refused_CPPFLAGS = $(onnx_flags)
%C%_t_onnx_refused_LDADD = $(TEST_SERVE)
$(%C%_t_onnx_refused_OBJECTS): generated/onnx.pb-c.h
UNIT_TESTS += %D%/t-trained
%C%_t_trained_LDADD = $(TEST_SERVE)
UNIT_TESTS += %D%/t-attack
%C%_t_attack_SOURCES = %D%/t-attack.c %D%/attack.c %D%/attack.h
%C%_t_attack_CPPFLAGS = $(AM_CPPFLAGS) $(GMP_CFLAGS) $(OPENSSL_CFLAGS)
%C%_t_attack_LDADD = $(TEST_SERVE)

# What tests/tools/check-serve compares answers with.
check_PROGRAMS += %D%/in-clear
%C%_in_clear_SOURCES = %D%/in-clear.c tools/load-program.c tools/option-table.c tools/options.c tools/records.c
%C%_in_clear_LDADD = libtacit.la libtacit-serve.la -lm

# 200 random networks beside onnxruntime, where python has it.
LONG_TESTS += %D%/t-onnx-random
%C%_t_onnx_random_LDADD =
EXTRA_%C%_t_onnx_random_DEPENDENCIES = tacit$(EXEEXT)
EXTRA_DIST += %D%/onnx-random.py
