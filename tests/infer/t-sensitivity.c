/* What one record moves a release by, at most: sums before noise, of data sets with and without it,
 * for random models, metrics, places and records, wild ones among them.
 *
 * A release with noise of standard deviation sigma is accounted for as having sensitivity 1.  Its
 * sum before noise is integers times h = sigma 2^-32; those of neighbours may be 1 / h apart.
 *
 * The same integers show that a record adds what it adds alone, whatever the others are, and in
 * whatever order. */
#include "infer/inquiries.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <tacit/model.h>

#include "tests/infer/readers.h"
#include "tests/infer/releases.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { MODELS = 320, N = 20, X = 9, G = 4, H = 3, MOST = 4096 };

static uint64_t seed;

static double number(void)
{
    return next_number(&seed);
}

static size_t choice(size_t n)
{
    return (size_t)((1 + number()) / 2 * (double)n);
}

/* ---- models ---- */

/* A model that is being written. */
typedef struct page {
    dp_model *m;
    dp_plate rows, groups, halls;
    dp_expr x, z, g, h;
} page;

static page open_page(void)
{
    page p = {.m = dp_model_new()};
    p.rows = dp_unit_plate(p.m, "rows");
    p.groups = dp_plate_new(p.m, "groups", G);
    p.halls = dp_plate_new(p.m, "halls", H);
    p.x = dp_data(p.rows, "x", X);
    p.z = dp_data(p.rows, "z", 1);
    p.g = dp_index(p.rows, "g", p.groups);
    p.h = dp_index(p.rows, "h", p.halls);
    return p;
}

/* A latent of the members of a plate, as the record's member has it. */
static dp_expr member(page *p, const char *name, dp_plate members, dp_expr index)
{
    char scale[16] = "sd ";
    dp_expr sd = dp_sample(p->m, strcat(scale, name), 1, dp_half_normal(1));
    return dp_pick(dp_sample_in(members, name, 1, dp_normal_v(dp_num(0), sd)), index);
}

/* A mean, by predictors and plates as it happens. */
static dp_expr predictor(page *p)
{
    dp_expr eta = dp_sample(p->m, "intercept", 1, dp_normal(0, 1));
    if (choice(4) > 0)
        eta = dp_add(eta, dp_dot(p->x, dp_sample(p->m, "w", X, dp_normal(0, 2))));
    if (choice(2) > 0)
        eta = dp_add(eta, member(p, "a", p->groups, p->g));
    if (choice(3) == 0)
        eta = dp_add(eta, member(p, "b", p->halls, p->h));
    return eta;
}

/* A positive argument: a number, a latent, one of each group, or a predictor's. */
static dp_expr positive(page *p, const char *name)
{
    switch (choice(4)) {
    case 0:
        return dp_num(0.7);
    case 1:
        return dp_sample(p->m, name, 1, dp_half_normal(2));
    case 2:
        return dp_exp(member(p, name, p->groups, p->g));
    default:
        return dp_exp(dp_mul(p->z, dp_sample(p->m, name, 1, dp_normal(0, 1))));
    }
}

typedef dp_dist law(page *p);

static dp_dist normal(page *p)
{
    dp_expr mean = predictor(p);
    return dp_normal_v(mean, positive(p, "s"));
}

static dp_dist student(page *p)
{
    dp_expr df = positive(p, "df"), mean = predictor(p);
    return dp_student_t_v(df, mean, positive(p, "s"));
}

static dp_dist laplace(page *p)
{
    dp_expr mean = predictor(p);
    return dp_laplace_v(mean, positive(p, "s"));
}

static dp_dist gumbel(page *p)
{
    dp_expr mean = predictor(p);
    return dp_gumbel_v(mean, positive(p, "s"));
}

static dp_dist logistic(page *p)
{
    return dp_bernoulli_logit(predictor(p));
}

static dp_dist binomial(page *p)
{
    return dp_binomial_logit(dp_data(p->rows, "trials", 1), predictor(p));
}

static dp_dist poisson(page *p)
{
    return dp_poisson_log(predictor(p));
}

static dp_dist gamma_law(page *p)
{
    dp_expr shape = positive(p, "shape");
    return dp_gamma_v(shape, dp_exp(predictor(p)));
}

static dp_dist beta(page *p)
{
    dp_expr a = dp_exp(predictor(p));
    return dp_beta_v(a, positive(p, "second"));
}

static dp_dist categorical(page *p)
{
    static const double effect[3] = {0, 1, -2};
    dp_expr logits = dp_sample(p->m, "logits", 3, dp_normal(0, 1));
    return dp_categorical_logit(dp_add(logits, dp_mul(dp_constant(p->m, 3, effect), predictor(p))));
}

typedef struct kind_of_model {
    law *of;
    const char *outcome;
} kind_of_model;

static const kind_of_model kinds[] = {
    {normal, "real"},       {logistic, "binary"}, {poisson, "count"}, {student, "real"},
    {binomial, "count"},    {laplace, "real"},    {gumbel, "real"},   {gamma_law, "share"},
    {categorical, "class"}, {beta, "share"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- records ---- */

typedef struct records {
    double x[N * X], z[N], real[N], binary[N], count[N], trials[N], share[N];
    int32_t g[N], h[N], class[N];
} records;

/* Any number that a data set may hold, mostly an ordinary one. */
static double wild(double ordinary)
{
    static const double strange[] = {0,     1e200,  -1e200, 1e75,    -1e75,   1e308, -1e308,
                                     1e154, 1e-200, 5e-324, DBL_MAX, DBL_MIN, 700,   -750};
    return choice(5) == 0 ? strange[choice(sizeof strange / sizeof *strange)] : ordinary;
}

static double wild_count(double most)
{
    static const double strange[] = {0, 1, 1e3, 1e6, 1e15, 0x1p53, 1e200};
    double x = choice(5) == 0 ? strange[choice(sizeof strange / sizeof *strange)]
                              : floor(6 * fabs(number()));
    return fmin(x, most);
}

static void draw(records *r)
{
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < X; j++)
            r->x[i * X + j] = wild(2 * number());
        r->z[i] = wild(number());
        r->real[i] = wild(3 * number());
        r->binary[i] = number() > 0;
        r->trials[i] = 8 + wild_count(1e9);
        r->count[i] = wild_count(8);
        if (choice(6) == 0) /* a Poisson count; of trials there are enough */
            r->trials[i] = fmax(r->trials[i], r->count[i] = wild_count(1e200));
        r->share[i] = choice(5) == 0 ? 1e-300 : (1 + number()) / 2 * 0.999 + 1e-6;
        r->g[i] = (int32_t)choice(G);
        r->h[i] = (int32_t)choice(H);
        r->class[i] = (int32_t)choice(3);
    }
}

/* Records first ... first + n - 1. */
static dp_dataset *data_of(const records *r, size_t first, size_t n)
{
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_real(data, "x", X, r->x + first * X);
    dp_dataset_real(data, "z", 1, r->z + first);
    dp_dataset_real(data, "real", 1, r->real + first);
    dp_dataset_real(data, "binary", 1, r->binary + first);
    dp_dataset_real(data, "count", 1, r->count + first);
    dp_dataset_real(data, "trials", 1, r->trials + first);
    dp_dataset_real(data, "share", 1, r->share + first);
    dp_dataset_index(data, "g", r->g + first);
    dp_dataset_index(data, "h", r->h + first);
    dp_dataset_index(data, "class", r->class + first);
    assert_null(dp_dataset_error(data));
    return data;
}

/* ---- questions ---- */

typedef struct scene {
    dp_model *model;
    dpi_model_view view;
    dpi_arena arena;
    dpi_metric metric;
    dpi_inquiry query;
    double theta[64];
    dp_noise *noise;
    records records;
} scene;

/* What is public may be anything at all, too. */
static void choose_question(scene *s)
{
    static const double sizes[] = {1, 1, 1, 1, 1e-3, 1e3, 1e-9, 1e9, 1e-100, 1e100};
    static const double strange[] = {0, 1e-300, 1e300, INFINITY, NAN, 5e-324};
    dpi_inquiry *q = &s->query;
    double size = sizes[choice(sizeof sizes / sizeof *sizes)];
    for (size_t e = 0; e < s->view.p * s->view.p; e++)
        s->metric.dense[e] = size * ((double)(e % (s->view.p + 1) == 0) + 0.4 * number());
    for (size_t e = 0; e < s->metric.n_own; e++)
        s->metric.own[e] = size * number();
    if (choice(8) == 0)
        s->metric.dense[choice(s->view.p * s->view.p)] = strange[choice(6)];
    for (size_t i = 0; i < s->view.objective.n_theta; i++)
        s->theta[i] = choice(40) > 0 ? 0.7 * number() : wild(100 * number());
    *q = (dpi_inquiry){.view = &s->view, .metric = &s->metric};
    q->clip = choice(10) == 0 ? strange[choice(6)] : exp(3 * number());
    q->most = choice(10) == 0 ? strange[choice(6)] : exp(5 * number());
    q->beyond = choice(10) == 0 ? strange[choice(6)] : exp(2 * number());
}

static void set_up(scene *s, size_t number_of_model)
{
    const kind_of_model *kind = &kinds[number_of_model % KINDS];
    dp_error err = {0};
    page p = open_page();
    *s = (scene){.model = p.m};
    dp_observe(p.rows, kind->outcome, kind->of(&p));
    assert_ok(dp_model_status(s->model), dp_model_error(s->model));
    assert_ok(dpi_model_view_init(&s->view, s->model, &err), err.text);
    assert_ok(dpi_metric_init(&s->metric, &s->view, &s->arena, &err), err.text);
    assert_true(s->view.objective.n_theta <= 64);
    assert_ok(dp_noise_new_seeded(3, &s->noise, &err), err.text);
    draw(&s->records);
}

static void tear_down(scene *s)
{
    dp_noise_free(s->noise);
    dpi_arena_free(&s->arena);
    dpi_model_view_free(&s->view);
    dp_model_free(s->model);
}

/* The sum of records first ... first + n - 1 before noise, in steps of its grid. */
static size_t sum_of(scene *s, dpi_inquiry_kind kind, dpi_scan *scan, double sigma, double *steps)
{
    static double out[MOST];
    double sd[2];
    dp_error err = {0};
    size_t n = dpi_inquiry_size(&s->view, kind);
    releases_forget();
    assert_ok(dpi_inquiry_run(&s->query, kind, scan, s->theta, sigma, out, sd, &err), err.text);
    assert_int_equal(releases_count(), 1);
    const release_seen *seen = releases_at(0);
    assert_true(seen->sd == sigma && seen->n == n);
    memcpy(steps, seen->steps, n * sizeof *steps);
    return n;
}

static void open_scan(scene *s, size_t first, size_t n, dpi_scan *scan, dp_dataset **data)
{
    dp_error err = {0};
    *data = data_of(&s->records, first, n);
    dpi_scan_spec spec = {.view = &s->view,
                          .data = *data,
                          .most_room = dpi_inquiry_room(&s->view),
                          .noise = s->noise};
    for (int k = 0; k < DPI_N_INQUIRIES; k++) {
        size_t size = dpi_inquiry_size(&s->view, (dpi_inquiry_kind)k);
        spec.most = size > spec.most ? size : spec.most;
    }
    assert_true(spec.most <= MOST);
    assert_ok(dpi_scan_init(scan, &spec, &err), err.text);
}

static void close_scan(dpi_scan *scan, dp_dataset *data)
{
    dpi_scan_free(scan);
    dp_dataset_free(data);
}

/* ---- tests ---- */

static double norm_of(size_t n, const double *a, const double *b)
{
    long double square = 0;
    for (size_t e = 0; e < n; e++)
        square += ((long double)a[e] - (long double)b[e]) * ((long double)a[e] - (long double)b[e]);
    return (double)sqrtl(square);
}

/* Sums of the first 0 ... N records, and of each alone; on a grid of 2^-36 they are exact. */
static double with[DPI_N_INQUIRIES][N + 1][MOST], alone[DPI_N_INQUIRIES][MOST];

static void sum_up(scene *s, double sigma)
{
    dpi_scan scan;
    dp_dataset *data;
    for (size_t n = 1; n <= N; n++) {
        open_scan(s, 0, n, &scan, &data);
        for (int kind = 0; kind < DPI_N_INQUIRIES; kind++)
            (void)sum_of(s, (dpi_inquiry_kind)kind, &scan, sigma, with[kind][n]);
        close_scan(&scan, data);
    }
}

static double largest[DPI_N_INQUIRIES]; /* distance of neighbours, of what is allowed */
static size_t told[DPI_N_INQUIRIES];

static void no_release_moves_further_than_its_sensitivity(void **state)
{
    static const double sigmas[] = {0x1p-4, 0.3, 5, 90, 1e4};
    static scene s;
    (void)state;
    seed = 31;
    memset(largest, 0, sizeof largest);
    memset(told, 0, sizeof told);
    for (size_t m = 0; m < MODELS; m++) {
        double sigma = sigmas[m % 5], most = 0x1p32 / sigma;
        set_up(&s, m);
        choose_question(&s);
        sum_up(&s, sigma);
        for (int kind = 0; kind < DPI_N_INQUIRIES; kind++)
            for (size_t i = 0; i < N; i++) {
                size_t n = dpi_inquiry_size(&s.view, (dpi_inquiry_kind)kind);
                double moved = norm_of(n, with[kind][i + 1], with[kind][i]);
                largest[kind] = fmax(largest[kind], moved / most);
                told[kind] += moved > 0;
                if (!(moved <= most))
                    fail_msg("model %zu, release %d: record %zu moves it by %.17g of %.17g", m,
                             kind, i, moved, most);
            }
        tear_down(&s);
    }
    for (int kind = 0; kind < DPI_N_INQUIRIES; kind++) {
        assert_true(largest[kind] > 0.99);
        assert_true(told[kind] > MODELS * N / 20);
    }
}

static void a_record_adds_what_it_adds_alone(void **state)
{
    static scene s;
    dpi_scan scan;
    dp_dataset *data;
    (void)state;
    seed = 73;
    for (size_t m = 0; m < MODELS / 2; m++) {
        set_up(&s, m);
        choose_question(&s);
        sum_up(&s, 0x1p-4); /* of which the step is that of the integers that are added up */
        for (size_t i = 0; i < N; i++) {
            open_scan(&s, i, 1, &scan, &data);
            for (int kind = 0; kind < DPI_N_INQUIRIES; kind++) {
                size_t n = sum_of(&s, (dpi_inquiry_kind)kind, &scan, 0x1p-4, alone[kind]);
                for (size_t e = 0; e < n; e++)
                    if (with[kind][i + 1][e] - with[kind][i][e] != alone[kind][e])
                        fail_msg("model %zu, release %d: record %zu adds %.17g to number %zu, and "
                                 "alone %.17g",
                                 m, kind, i, with[kind][i + 1][e] - with[kind][i][e], e,
                                 alone[kind][e]);
            }
            close_scan(&scan, data);
        }
        tear_down(&s);
    }
}

/* ---- many records ---- */

static const double exact = 0x1p-4; /* noise whose grid is that of the integers */

/* Adds the sum of records first ... first + n - 1 to total, `sign` times. */
static void add_part(const reading *r, const reader_records *all, size_t first, size_t n,
                     size_t threads, dpi_inquiry_kind kind, double sign, double *total)
{
    static reader_records some;
    static double out[MOST];
    dpi_inquiry q = {.view = &r->view, .metric = &r->metric, .clip = 2, .most = 2, .beyond = 2};
    dp_error err = {0};
    dpi_scan scan;
    dp_noise *noise;
    reader_take(all, first, n, &some);
    dp_dataset *data = reader_data(&some, n);
    assert_ok(dp_noise_new_seeded(3, &noise, &err), err.text);
    dpi_scan_spec spec = {.view = &r->view,
                          .data = data,
                          .threads = threads,
                          .most = MOST,
                          .most_room = dpi_inquiry_room(&r->view),
                          .noise = noise};
    assert_ok(dpi_scan_init(&scan, &spec, &err), err.text);
    releases_forget();
    assert_ok(dpi_inquiry_run(&q, kind, &scan, r->theta, exact, out, NULL, &err), err.text);
    for (size_t e = 0; e < releases_at(0)->n; e++)
        total[e] += sign * releases_at(0)->steps[e];
    dpi_scan_free(&scan);
    dp_noise_free(noise);
    dp_dataset_free(data);
}

/* Two parts of them, cut anywhere, add up to the bit to what all add: no chunk of records and no
 * thread does anything to another's. */
static void parts_of_the_records_add_up(void **state)
{
    static reader_records all;
    static double total[MOST];
    (void)state;
    reader_draw(&all, 9);
    for (size_t m = 0; m < n_readers; m++) {
        reading r;
        reading_make(&r, &readers[m]);
        reading_turn(&r, 1);
        for (int kind = 0; kind < DPI_N_INQUIRIES; kind++) {
            size_t cut = 1 + (53 * m + 7 * (size_t)kind) % (READER_RECORDS - 1);
            memset(total, 0, sizeof total);
            add_part(&r, &all, 0, READER_RECORDS, 3, (dpi_inquiry_kind)kind, 1, total);
            add_part(&r, &all, 0, cut, 1, (dpi_inquiry_kind)kind, -1, total);
            add_part(&r, &all, cut, READER_RECORDS - cut, 1, (dpi_inquiry_kind)kind, -1, total);
            for (size_t e = 0; e < MOST; e++)
                if (total[e] != 0)
                    fail_msg("%s, release %d: parts are %g away from the whole", readers[m].name,
                             kind, total[e]);
        }
        reading_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_release_moves_further_than_its_sensitivity),
        cmocka_unit_test(a_record_adds_what_it_adds_alone),
        cmocka_unit_test(parts_of_the_records_add_up),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    releases_forget();
    return failed;
}
