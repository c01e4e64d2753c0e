/* Fits that are interrupted, for tests. */
#include "tests/infer/scene.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/infer/releases.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"

static unsigned char file[SCENE_FILE];

int scene_stop(void *user, const dp_fit_progress *at)
{
    const scene *s = user;
    assert_true(at->kept);
    assert_int_equal(at->planned, SCENE_PLANNED);
    return at->made >= s->stop_at;
}

void scene_set_up(scene *s, const char *model)
{
    *s = (scene){.model = reader_named(model)->make(), .stop_at = UINT64_MAX};
    reader_draw(&s->records, 3);
    s->data = reader_data(&s->records, 100);
    s->opts = (dp_fit_opts){.epsilon = 1,
                            .delta = 1e-6,
                            .draws = SCENE_KEPT,
                            .rounds = 2,
                            .seed = 5,
                            .hopeless_allowed = true,
                            .journal = s->journal,
                            .watch = scene_stop,
                            .watch_user = s};
    (void)snprintf(s->journal, sizeof s->journal, "%s", folder_path("journal"));
    (void)unlink(folder_path("journal"));
    releases_forget();
}

void scene_tear_down(scene *s)
{
    dp_ledger_close(s->ledger);
    dp_dataset_free(s->data);
    dp_model_free(s->model);
    (void)unlink(folder_path("journal"));
}

void scene_open_ledger(scene *s, double room)
{
    dp_error err = {0};
    const dp_budget budget = {.epsilon = 1 + room, .delta = 1e-6, .adjacency = DP_ADD_REMOVE};
    const dp_ledger_source source = {.records = s->data};
    s->ledger = folder_ledger(1);
    assert_ok(dp_ledger_add_data(s->ledger, "records", &source, &budget, &err), err.text);
    s->opts.seed = 0;
    s->opts.ledger = s->ledger;
    s->opts.ledger_data = "records";
}

dp_status scene_fit(scene *s, bool resume, double *draws, dp_error *err)
{
    dp_fit *made;
    s->opts.resume = resume;
    dp_status status = dp_fit_private(s->model, s->data, &s->opts, &made, err);
    assert_true((status == DP_OK) == (made != NULL));
    if (made != NULL && draws != NULL) {
        assert_ok(dp_fit_save(made, folder_path("fit"), err), err->text);
        FILE *f = fopen(folder_path("fit"), "rb");
        assert_non_null(f);
        size_t n = fread(file, 1, SCENE_FILE, f);
        assert_true(n > 1000 && n < SCENE_FILE);
        (void)fclose(f);
        /* The last ones of the file are hashes and draws: what differs in a draw differs there. */
        memcpy(draws, file + n - SCENE_KEPT * sizeof *draws, SCENE_KEPT * sizeof *draws);
        (void)unlink(folder_path("fit"));
    }
    dp_fit_free(made);
    return status;
}

size_t scene_load(const char *name, unsigned char bytes[SCENE_FILE])
{
    FILE *f = fopen(folder_path(name), "rb");
    assert_non_null(f);
    size_t n = fread(bytes, 1, SCENE_FILE, f);
    assert_true(n < SCENE_FILE);
    (void)fclose(f);
    return n;
}

void scene_store(const char *name, const unsigned char *bytes, size_t n)
{
    FILE *f = fopen(folder_path(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

void scene_refused(scene *s, dp_status expected, const char *why)
{
    dp_error err = {0};
    releases_forget();
    assert_fails(scene_fit(s, true, NULL, &err), expected, &err, why);
    assert_int_equal(releases_count(), 0);
}
