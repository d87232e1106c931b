"""A proxy before a PostgreSQL server that loses what it is told to lose.

It knows where a message of the protocol begins and ends, no more: messages of the client are counted, over all
connections, and at the wanted one the way is cut, either before the server gets it or after the server has done all it
was told and before the client hears of it.
"""

import socket
import struct
import threading

BEFORE = "before the server has it"
AFTER = "after the server has done it"


class Proxy:
    """Listens on loopback. `cut(number, when, refusals)` sets what the next process meets, `pass_on()` nothing."""

    def __init__(self, server_socket):
        self.server_socket = server_socket
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.pass_on()
        threading.Thread(target=self.accept, daemon=True).start()

    def pass_on(self):
        self.cut(0, BEFORE, 0)

    def cut(self, number, when, refusals):
        """`refusals`: how often nobody is let through behind the cut."""
        with self.lock:
            self.seen = 0
            self.number = number
            self.when = when
            self.refusals = refusals
            self.was_cut = False

    def refuse(self):
        """From now on nobody is let through."""
        with self.lock:
            self.was_cut = True
            self.refusals = float("inf")

    def close(self):
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:  # closed
                return
            with self.lock:
                refuses = self.was_cut and self.refusals > 0
                self.refusals -= refuses
            if refuses:
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.server_socket)
            cut = threading.Event()
            threading.Thread(target=self.forward_answers, args=(server, client, cut), daemon=True).start()
            threading.Thread(target=self.forward_requests, args=(client, server, cut), daemon=True).start()

    def is_cut_here(self):
        with self.lock:
            self.seen += 1
            here = self.seen == self.number
            self.was_cut |= here
            return here

    def forward_requests(self, client, server, cut):
        reader = client.makefile("rb")
        try:
            begun = False
            while message := read_message(reader, begun):
                begun = True
                if self.is_cut_here():
                    cut.set()
                    if self.when == AFTER:
                        server.sendall(message)
                    break
                server.sendall(message)
        except OSError:
            pass
        finally:
            # The server does what it was sent before it sees the end; forward_answers closes when it has.
            shut(server, socket.SHUT_WR)

    @staticmethod
    def forward_answers(server, client, cut):
        try:
            while answer := server.recv(65536):
                if not cut.is_set():
                    client.sendall(answer)
        except OSError:
            pass
        finally:
            server.close()
            shut(client, socket.SHUT_RDWR)
            client.close()


def shut(connection, how):
    try:
        connection.shutdown(how)
    except OSError:
        pass  # the other side was first


def read_message(reader, begun):
    """One message of a client; the first has no letter before its length. Empty at the end."""
    head = reader.read(5 if begun else 4)
    if len(head) < (5 if begun else 4):
        return b""
    (length,) = struct.unpack("!I", head[-4:])
    body = reader.read(length - 4)
    return head + body if len(body) == length - 4 else b""
