#define _XOPEN_SOURCE 700
#include "tests/serve/host.h"

#include <stdio.h>

static void *run_host(void *of)
{
    host *h = of;
    dpi_wire_session *wire;
    assert_ok(dpi_wire_accept(h->listener, LONG, &wire, NULL), "");
    h->act(h, wire);
    dpi_wire_close(wire);
    return NULL;
}

void start_host(host *h, scene *s, const dp_program *p)
{
    dp_error err = {0};
    h->s = s;
    h->p = p;
    assert_ok(dpi_policy_load(s->policy, &h->policy, &err), err.text);
    assert_ok(dp_program_sheet(p, &h->sheet_bytes, &h->sheet, &err), err.text);
    h->opts = (dpi_wire_opts){.identity = s->provider, .peers = &h->policy.clients};
    assert_ok(dpi_wire_listen("127.0.0.1", "0", &h->opts, NULL, &h->listener, &err), err.text);
    (void)snprintf(s->port, sizeof s->port, "%d", dpi_wire_port(h->listener));
}

void run_in_thread(host *h)
{
    assert_int_equal(pthread_create(&h->thread, NULL, run_host, h), 0);
}

void end_host(host *h)
{
    assert_int_equal(pthread_join(h->thread, NULL), 0);
    dpi_wire_listener_free(h->listener);
    dpi_policy_free(&h->policy);
    dp_program_sheet_free(h->sheet);
}
