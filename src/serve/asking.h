/* What a client's session is made of, for the files that ask by it. */
#ifndef DPI_SERVE_ASKING_H
#define DPI_SERVE_ASKING_H

#include "serve/ahead.h"
#include "serve/stream.h"

struct dp_ask {
    struct dpi_parties_ask *parties; /* of a session with several (ask-parties.h), of which the rest
                                      * has the program, timeout, failed and turn alone; or NULL */
    dpi_wire_session *wire;
    dp_program *program; /* of its sheet */
    dpi_serve_plan plan;
    const dpi_serve_row *row;
    dpi_serve_cost cost;
    void *client;
    dpi_ahead worker;
    dpi_pool *pool;
    size_t threads, in_flight;
    bool even; /* threads of a stream's stages alike */
    dpi_stream_profile profile;
    uint32_t timeout;
    unsigned char *up, *down; /* of the largest layer */
    int64_t *values, *room;   /* [plan.most] */
    dp_error failed;          /* of a query or preparation: the session is at an end */
    /* Queries and preparations take turns; what follows, and `failed`, is of whose turn it is. */
    pthread_mutex_t *turn;
    bool asked, prepared; /* a query was answered since the last preparation; one is ready */
    dp_ask_traffic ahead; /* of preparations */
};

#endif
