#!/usr/bin/env python3
"""A mailbox for owners who fit one model together: keeps what is PUT and gives it back.

  mailbox.py --folder LETTERS --certificate server.pem --key server.key [--clients ca.pem]
             [--address 0.0.0.0] [--port 443]

It never sees what is in a letter: letters are sealed to their readers and signed by their writers.
With --clients only those whose certificates that authority has signed may put and take letters.
The first letter of a name stays.  Who asks for a letter that is not there yet (Prefer: wait=N) is
answered when it comes, or after N seconds.  Prints the port, and then nothing.

Any other server that stores what is PUT (WebDAV) will do; this one needs Python alone.
"""

import argparse
import http.server
import os
import re
import ssl
import sys
import tempfile
import threading

NAME = re.compile(r"/(?:[A-Za-z0-9_-][A-Za-z0-9+._-]{0,250})\Z")
MOST_BYTES = 1 << 30
MOST_WAIT = 30

arrived = threading.Condition()


class Letters(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "mailbox"
    sys_version = ""
    timeout = 60
    wbufsize = -1  # an answer leaves in one piece, and at once
    disable_nagle_algorithm = True

    def setup(self):
        # The handshake is here, in a thread of this client's, so that nobody waits for another's.
        self.request.settimeout(self.timeout)
        self.request = self.server.context.wrap_socket(self.request, server_side=True)
        super().setup()

    def path_of(self):
        return os.path.join(self.server.folder, self.path[1:]) if NAME.match(self.path) else None

    def answer(self, status, body=b""):
        self.send_response_only(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def refuse(self, status):
        self.close_connection = True
        self.answer(status)

    def path_asked(self):
        """The path of a request without a body of another kind than a letter's."""
        if "Transfer-Encoding" in self.headers or (self.command == "GET" and "Content-Length" in self.headers):
            return None
        return self.path_of()

    def do_PUT(self):
        path, length = self.path_asked(), self.headers.get("Content-Length", "")
        if path is None:
            return self.refuse(400)
        if not re.fullmatch(r"[0-9]{1,10}", length) or int(length) > MOST_BYTES:
            return self.refuse(413 if length else 411)
        body = self.rfile.read(int(length))
        if len(body) != int(length):
            return self.refuse(400)
        with tempfile.NamedTemporaryFile(dir=self.server.folder, prefix=".") as beside:
            beside.write(body)
            beside.flush()
            os.fsync(beside.fileno())
            try:
                os.link(beside.name, path)
                status = 201
            except FileExistsError:
                status = 412
        with arrived:
            arrived.notify_all()
        return self.answer(status)

    def do_GET(self):
        path = self.path_asked()
        if path is None:
            return self.refuse(400)
        asked = re.search(r"\bwait=([0-9]{1,4})\b", self.headers.get("Prefer", ""))
        with arrived:
            arrived.wait_for(lambda: os.path.exists(path),
                             min(int(asked.group(1)), MOST_WAIT) if asked else 0)
        try:
            with open(path, "rb") as letter:
                return self.answer(200, letter.read())
        except FileNotFoundError:
            return self.answer(404)

    def log_message(self, *_):
        pass


class Mailbox(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass  # a client that hangs up, or that is none


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    words.add_argument("--folder", required=True, help="where letters lie")
    words.add_argument("--certificate", required=True, help="the server's, PEM, with its chain")
    words.add_argument("--key", required=True, help="of the certificate, PEM")
    words.add_argument("--clients", help="PEM of the authority that signs clients' certificates")
    words.add_argument("--address", default="127.0.0.1", help="to listen at (default: this machine alone)")
    words.add_argument("--port", type=int, default=443, help="0: any that is free")
    given = words.parse_args()
    if not os.path.isdir(given.folder):
        sys.exit(f"{given.folder} is no folder; make it first")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(given.certificate, given.key)
    if given.clients:
        context.load_verify_locations(given.clients)
        context.verify_mode = ssl.CERT_REQUIRED
    with Mailbox((given.address, given.port), Letters) as server:
        server.folder, server.context = given.folder, context
        print(server.server_address[1], flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
