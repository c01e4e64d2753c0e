/* A provider by hand, which does as it likes once a session is open. */
#ifndef TESTS_SERVE_HOST_H
#define TESTS_SERVE_HOST_H

#include "tests/serve/scene.h"
#include "wire/listener.h"

enum { LONG = 20000 }; /* milliseconds; nothing should take them */

typedef struct host {
    scene *s;
    dpi_policy policy;
    dpi_wire_opts opts;
    dpi_wire_listener *listener;
    pthread_t thread;
    void (*act)(struct host *h, dpi_wire_session *wire);
    const dp_program *p;
    unsigned char *sheet;
    size_t sheet_bytes;
    dp_status ended; /* for act */
    void *user;
} host;

/* Listens at the scene's port with p and its sheet, which may be changed before run_in_thread: that
 * takes one session. */
void start_host(host *h, scene *s, const dp_program *p);
void run_in_thread(host *h);
void end_host(host *h);

#endif
