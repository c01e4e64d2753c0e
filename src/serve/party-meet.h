/* Where the connections of fellow parties wait for the sessions that they belong to.
 *
 * A fellow may say that it joins before this party has heard of the session, or after the session
 * has gone.  Connections wait for at most a session's timeout; of those that nobody asks for the
 * oldest of the same fellow makes room.  Thread-safe. */
#ifndef DPI_SERVE_PARTY_MEET_H
#define DPI_SERVE_PARTY_MEET_H

#include "serve/party-talk.h"

typedef struct dpi_meeting dpi_meeting;

/* Room for so many sessions, and so many connections that wait of each of `parties`.  *meeting
 * [out] NULL on error.  DP_ENOMEM. */
dp_status dpi_meeting_new(size_t sessions, size_t parties, size_t links, uint32_t timeout,
                          dpi_meeting **meeting, dp_error *err) DP_MUST_CHECK;
void dpi_meeting_free(dpi_meeting *m);

/* A session of a client's begins, and has ended.  False: there is one by this token, or no room. */
bool dpi_meeting_begin(dpi_meeting *m, const unsigned char token[DPI_PARTY_TOKEN]);
void dpi_meeting_finish(dpi_meeting *m, const unsigned char token[DPI_PARTY_TOKEN]);

/* A connection of party `from`, which the meeting owns from now on, and what was said over it. */
void dpi_meeting_bring(dpi_meeting *m, size_t from, const dpi_party_hello *hello,
                       dpi_wire_session *wire);

/* The connection of party `from` for a token and a lane, for the caller to close, and what was said
 * over it.  NULL: none came in time, the meeting is closed, or the client, who has nothing to say
 * meanwhile, has gone. */
dpi_wire_session *dpi_meeting_await(dpi_meeting *m, size_t from,
                                    const unsigned char token[DPI_PARTY_TOKEN], size_t lane,
                                    const dpi_wire_session *client, dpi_party_hello *hello);

/* Nobody waits any longer, and nothing is kept. */
void dpi_meeting_close(dpi_meeting *m);

#endif
