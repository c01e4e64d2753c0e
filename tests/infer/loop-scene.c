#include "tests/infer/loop-scene.h"

#include <stdio.h>
#include <unistd.h>

#include "tests/infer/releases.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

const uint64_t loop_points[LOOP_POINTS] = {1, 2, 33, 34, 200, 500, LOOP_PLANNED};

static int watch(void *user, const dp_fit_progress *at)
{
    loop_scene *s = user;
    s->told = at->made;
    s->kept = at->kept;
    return at->made >= s->stop_at;
}

void loop_scene_begin(loop_scene *s)
{
    (void)snprintf(s->journal, sizeof s->journal, "%s", folder_path("journal"));
    (void)unlink(s->journal);
    s->stop_at = UINT64_MAX;
    s->opts = (dp_fit_opts){.epsilon = 1,
                            .delta = 1e-6,
                            .seed = 5,
                            .threads = 1,
                            .journal = s->journal,
                            .watch = watch,
                            .watch_user = s};
    loop_draw(&s->records);
    releases_forget();
}

dp_status loop_scene_fit_data(loop_scene *s, size_t model, const dp_dataset *data, loop_bytes *made,
                              dp_error *err)
{
    dp_fit *fit;
    dp_model *m = loop_models[model].make();
    dp_status status = dp_fit_private(m, data, &s->opts, &fit, err);
    assert_true((status == DP_OK) == (fit != NULL));
    if (fit != NULL && made != NULL) {
        assert_ok(dp_fit_save(fit, folder_path("fit"), err), err->text);
        loop_load("fit", made);
    }
    dp_fit_free(fit);
    dp_model_free(m);
    return status;
}

dp_status loop_scene_fit(loop_scene *s, size_t model, loop_bytes *made, dp_error *err)
{
    dp_dataset *data = loop_data(&s->records, LOOP_SCENE_N);
    dp_status status = loop_scene_fit_data(s, model, data, made, err);
    dp_dataset_free(data);
    return status;
}

void loop_scene_stop(loop_scene *s, size_t model, uint64_t at)
{
    dp_error err = {0};
    s->stop_at = at;
    assert_fails(loop_scene_fit(s, model, NULL, &err), DP_ESTOPPED, &err, "stopped");
    assert_int_equal(s->told, at);
    assert_true(s->kept);
    s->stop_at = UINT64_MAX;
    s->opts.resume = true;
}

void loop_scene_refused(loop_scene *s, size_t model, dp_status expected, const char *why)
{
    dp_error err = {0};
    size_t before = releases_count();
    assert_fails(loop_scene_fit(s, model, NULL, &err), expected, &err, why);
    assert_int_equal(releases_count(), before);
}

void loop_load(const char *name, loop_bytes *b)
{
    FILE *f = fopen(folder_path(name), "rb");
    assert_non_null(f);
    b->n = fread(b->at, 1, LOOP_FILE, f);
    assert_true(b->n > 100 && b->n < LOOP_FILE);
    (void)fclose(f);
}

void loop_store(const char *name, const loop_bytes *b)
{
    FILE *f = fopen(folder_path(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b->at, 1, b->n, f), b->n);
    assert_int_equal(fclose(f), 0);
}

void loop_same(const loop_bytes *a, const loop_bytes *b)
{
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->at, b->at, a->n);
}
