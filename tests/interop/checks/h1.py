"""h1.py PORT METHOD…: sends standard input as it is to PORT on loopback and reads one answer per METHOD with h11.

Writes the answers' statuses as JSON. Anything that is not strictly HTTP/1.1 ends it with an error.
"""
import json
import socket
import sys

import h11

port, methods = int(sys.argv[1]), sys.argv[2:]
connection = h11.Connection(h11.CLIENT)
statuses = []
with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
    line.sendall(sys.stdin.buffer.read())
    for number, method in enumerate(methods):
        if number:
            connection.start_next_cycle()
        # Only told, so that h11 knows what is being answered: a HEAD has no body.
        connection.send(h11.Request(method=method, target="/", headers=[("host", "rig")]))
        connection.send(h11.EndOfMessage())
        while not isinstance(event := connection.next_event(), h11.EndOfMessage):
            if event is h11.NEED_DATA:
                connection.receive_data(line.recv(65536))
            elif isinstance(event, h11.Response):
                statuses.append(event.status_code)
            elif isinstance(event, h11.ConnectionClosed):
                raise SystemExit("the connection was closed before the answer was whole")
print(json.dumps(statuses))
