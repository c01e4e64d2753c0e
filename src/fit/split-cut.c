/* Where a model is cut.
 *
 * A value separates where each way from the features' columns to the records' log likelihood goes
 * through it.  The last one of the graph that does, and that follows from these columns and from no
 * others, is the least that has to be sent.  It must be made with a parameter: a column that was
 * moved, divided or reshaped by what is public is the column itself. */
#include "fit/split.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "graph/op.h"

enum { NOBODY = DP_SPLIT_SIDES };

/* ---- whose columns ---- */

/* Whether a list has a name, blanks around names aside. */
static bool has(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = list; at != NULL && *at != '\0'; at += *at == ',') {
        at += strspn(at, " ");
        size_t length = strcspn(at, ",");
        const char *next = at + length;
        while (length > 0 && at[length - 1] == ' ')
            length--;
        if (length == n && memcmp(at, name, n) == 0)
            return true;
        at = next;
    }
    return false;
}

static dp_status check_column(const dp_split_opts *spec, const char *name, dp_error *err)
{
    const bool one = has(spec->held[0], name), other = has(spec->held[1], name);
    return one != other ? DP_OK
                        : dpi_fail(err, DP_ENAME,
                                   one ? "both owners have column '%.100s'; let one of them hold it"
                                       : "nobody has column '%.100s', which the model reads; name "
                                         "it among those of its owner",
                                   name);
}

/* How many names a list has. */
static size_t count(const char *list)
{
    size_t n = list != NULL && *list != '\0';
    for (; list != NULL && *list != '\0'; list++)
        n += *list == ',';
    return n;
}

static dp_status check_columns(const dp_split *h, const dp_split_opts *spec, dp_error *err)
{
    const dpi_graph *g = &h->o.graph;
    size_t found = 0;
    for (size_t k = 0; k < g->n_nodes; k++) {
        if (!dpi_is_column(&g->nodes[k]))
            continue;
        dp_status status = check_column(spec, g->nodes[k].name, err);
        if (status != DP_OK)
            return status;
        bool before = false;
        for (size_t j = 0; j < k; j++)
            before = before || (dpi_is_column(&g->nodes[j]) &&
                                strcmp(g->nodes[j].name, g->nodes[k].name) == 0);
        found += !before;
    }
    return found == count(spec->held[0]) + count(spec->held[1])
               ? DP_OK
               : dpi_fail(err, DP_ENAME,
                          "of the columns that owners are said to have, the model reads %zu alone; "
                          "leave the others out, and name each once",
                          found);
}

static dp_status find_outcome(dp_split *h, const dp_split_opts *spec, dp_error *err)
{
    h->outcome = NOBODY;
    for (size_t k = 0; k < h->o.n_observations; k++) {
        const size_t whose = has(spec->held[1], h->o.observations[k].name) ? 1 : 0;
        if (h->outcome != NOBODY && h->outcome != whose)
            return dpi_fail(err, DP_EUNSUPPORTED,
                            "both owners have outcomes; split learning is of one who has them all");
        h->outcome = whose;
    }
    return h->outcome != NOBODY ? DP_OK
                                : dpi_fail(err, DP_EUNSUPPORTED, "the model observes nothing");
}

/* ---- the cut ---- */

/* from[n_nodes]: whether a node follows from columns of a list, other than through `but`. */
static void follow(const dp_split *h, const char *list, dpi_id but, bool *from)
{
    const dpi_graph *g = &h->o.graph;
    for (size_t k = 0; k < g->n_nodes; k++) {
        const dpi_node *n = &g->nodes[k];
        from[k] = dpi_is_column(n) && has(list, n->name);
        for (int a = 0; a < n->op->n_inputs; a++)
            from[k] = from[k] || from[n->in[a]];
        from[k] = from[k] && (dpi_id)k != but;
    }
}

/* reads[n_nodes]: whether a node is needed for `id`, by other ways than through `but`. */
static void mark_without(const dp_split *h, dpi_id id, dpi_id but, bool *reads)
{
    const dpi_graph *g = &h->o.graph;
    memset(reads, 0, g->n_nodes * sizeof *reads);
    reads[id] = true;
    for (dpi_id k = id; k >= 0; k--)
        for (int a = 0; reads[k] && k != but && a < g->nodes[k].op->n_inputs; a++)
            reads[g->nodes[k].in[a]] = true;
    if (but != DPI_NONE)
        reads[but] = false;
}

static bool has_parameter(const dp_split *h, dpi_id id, bool *room)
{
    bool any = false;
    mark_without(h, id, DPI_NONE, room);
    for (size_t k = 0; k < h->o.n_blocks; k++)
        any = any || room[h->o.blocks[k].node];
    return any;
}

typedef struct cut_search {
    const dp_split_opts *spec;
    const char *features;              /* whose columns lead to the cut */
    bool *mine, *others, *read, *room; /* [n_nodes] */
} cut_search;

static bool separates(const dp_split *h, const cut_search *s, dpi_id id)
{
    const dpi_node *n = dpi_get(&h->o.graph, id);
    if (!n->shape.per_record || dpi_is_source(n) || !s->read[id] || !s->mine[id] || s->others[id])
        return false;
    follow(h, s->features, id, s->room);
    return !s->room[h->o.record] && has_parameter(h, id, s->room);
}

static dp_status choose(dp_split *h, const cut_search *s, dp_error *err)
{
    const char *name = s->spec->cut;
    h->cut = DPI_NONE;
    if (name != NULL) {
        h->cut = h->o.marked;
        if (h->cut == DPI_NONE)
            return dpi_fail(err, DP_ENAME,
                            "the model computes no value '%.100s' to be cut at; name "
                            "one by dp_deterministic",
                            name);
        if (!separates(h, s, h->cut))
            return dpi_fail(err, DP_EPRIVACY,
                            "the model cannot be cut at '%.100s': it must be made with parameters, "
                            "of one owner's columns alone, and these must lead to outcomes through "
                            "it and by no other way",
                            name);
        return DP_OK;
    }
    for (dpi_id k = h->o.record; k >= 0 && h->cut == DPI_NONE; k--)
        if (separates(h, s, k))
            h->cut = k;
    return h->cut != DPI_NONE
               ? DP_OK
               : dpi_fail(err, DP_EPRIVACY,
                          "no value of records, made with parameters, stands between the columns "
                          "of who has no outcomes and the other's, so that columns would have to "
                          "be sent as they are");
}

static dp_status find_cut(dp_split *h, const dp_split_opts *spec, dp_error *err)
{
    const size_t n = h->o.graph.n_nodes;
    cut_search s = {.spec = spec, .features = spec->held[1 - h->outcome]};
    bool **set[] = {&s.mine, &s.others, &s.read, &s.room};
    for (size_t k = 0; k < sizeof set / sizeof *set; k++)
        if ((*set[k] = dpi_arena_alloc(&h->arena, n, sizeof(bool))) == NULL)
            return dpi_fail_nomem(err);
    follow(h, s.features, DPI_NONE, s.mine);
    follow(h, spec->held[h->outcome], DPI_NONE, s.others);
    mark_without(h, h->o.record, DPI_NONE, s.read);
    dp_status status = choose(h, &s, err);
    if (status != DP_OK)
        return status;
    h->width = dpi_shape_size(&dpi_get(&h->o.graph, h->cut)->shape);
    return h->width <= DP_SPLIT_WIDTH
               ? DP_OK
               : dpi_fail(err, DP_EUNSUPPORTED, "%zu numbers of a record at the cut are too many",
                          h->width);
}

/* ---- whose parameters ---- */

static dp_status find_owners(dp_split *h, dp_error *err)
{
    const dpi_objective *o = &h->o;
    bool *below = dpi_arena_alloc(&h->arena, o->graph.n_nodes, sizeof *below);
    bool *above = dpi_arena_alloc(&h->arena, o->graph.n_nodes, sizeof *above);
    h->owner = dpi_arena_alloc(&h->arena, o->n_blocks + 1, sizeof *h->owner);
    if (below == NULL || above == NULL || h->owner == NULL)
        return dpi_fail_nomem(err);
    mark_without(h, h->cut, DPI_NONE, below);
    mark_without(h, o->record, h->cut, above);
    for (size_t k = 0; k < o->n_blocks; k++) {
        const dpi_block *b = &o->blocks[k];
        if (below[b->node] && above[b->node])
            return dpi_fail(err, DP_EPRIVACY,
                            "parameter '%.100s' is read on both sides of the cut, and would be "
                            "changed by two owners; give each side one of its own",
                            b->name);
        h->owner[k] = below[b->node] ? 1 - h->outcome : h->outcome;
        h->numbers[h->owner[k]] += b->size;
    }
    return DP_OK;
}

dp_status dpi_split_find(dp_split *h, const dp_split_opts *spec, dp_error *err)
{
    dp_status status = check_columns(h, spec, err);
    if (status == DP_OK)
        status = find_outcome(h, spec, err);
    if (status == DP_OK)
        status = find_cut(h, spec, err);
    return status == DP_OK ? find_owners(h, err) : status;
}
