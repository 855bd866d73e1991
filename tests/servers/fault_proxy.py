"""A TCP proxy in front of a server that behaves as broken networks and servers do."""

import random
import select
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self

COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""The message of Bolt that commits an explicit transaction."""


class FaultProxy:
    """Forwards to `target` on 127.0.0.1. A fault acts on connections there are and on those to come, until `heal`."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._lock = threading.Lock()
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._threads: list[threading.Thread] = []
        self._over = False
        self._random = random.Random(1)
        self.fault = "none"
        self.budget = 0
        """Bytes that the server may still say before the fault strikes."""
        self.accepted = 0
        self._listener: socket.socket | None = None
        self._listen(0)
        assert self._listener is not None
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over = True
        self._deafen()
        self.cut()
        for thread in self._threads:
            thread.join(2)

    @property
    def uri(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    def strike(self, fault: str, budget: int = 0) -> None:
        """`refuse`: the port is closed. After `budget` bytes of the server: `hang`, `reset`, `fin`, `garbage`. On the commit: `commit_lost` (the
        server gets it, its answer is lost), `commit_cut` (the server never gets it). At all times: `slices`, `delay`."""
        with self._lock:
            self.fault, self.budget = fault, budget
        if fault == "refuse":
            self._deafen()
            self.cut()

    def heal(self) -> None:
        """As if nothing had been; connections that hang go on hanging, as after a broken route."""
        with self._lock:
            self.fault = "none"
        if self._listener is None:
            self._listen(self.port)

    @contextmanager
    def struck(self, fault: str, budget: int = 0) -> Iterator[None]:
        self.strike(fault, budget)
        try:
            yield
        finally:
            self.heal()

    def cut(self, *, reset: bool = False) -> None:
        """Ends all connections: cleanly, as a balancer does with idle ones, or by a reset."""
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            self._end(pair, reset=reset)

    def _listen(self, port: int) -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(64)
        self._listener = listener
        self._start(self._accept, listener)

    def _deafen(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            # Closing alone does not wake who waits in accept.
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def _start(self, work: object, *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            self.accepted += 1
            try:
                server = socket.create_connection(("127.0.0.1", self._target), 2)
            except OSError:
                # Nobody behind the proxy: what a client of the server itself would see.
                client.close()
                continue
            pair = (client, server)
            with self._lock:
                self._pairs.add(pair)
            self._start(self._pump, pair)

    def _pump(self, pair: tuple[socket.socket, socket.socket]) -> None:
        client, server = pair
        silent = False
        try:
            while True:
                ready, _, _ = select.select([client] if silent else [client, server], [], [], 0.2)
                if self._over:
                    break
                if client in ready:
                    said = client.recv(65536)
                    if not said:
                        break
                    fault = self.fault
                    if fault in ("commit_lost", "commit_cut") and COMMIT in said:
                        if fault == "commit_lost":
                            server.sendall(said)
                            time.sleep(0.3)
                        self._end(pair, reset=True)
                        return
                    server.sendall(said)
                if server in ready:
                    said = server.recv(65536)
                    if not said:
                        break
                    silent = self._forward(pair, said) or silent
        except (OSError, ValueError):
            pass
        self._end(pair)

    def _forward(self, pair: tuple[socket.socket, socket.socket], said: bytes) -> bool:
        """Hands on what the server said; true if nothing more is to come."""
        client, _ = pair
        with self._lock:
            fault = self.fault
            if fault in ("hang", "reset", "fin", "garbage"):
                said, rest = said[: self.budget], said[self.budget :]
                self.budget -= len(said)
            else:
                rest = b""
        if fault == "slices":
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in said:
                client.sendall(bytes([byte]))
            return False
        if fault == "delay":
            time.sleep(0.25 + self._random.random() * 0.1)
        if said:
            client.sendall(said)
        if not rest:
            return False
        if fault == "garbage":
            client.sendall(self._random.randbytes(len(rest)))
            return False
        if fault == "hang":
            return True
        self._end(pair, reset=fault == "reset")
        return True

    def _end(self, pair: tuple[socket.socket, socket.socket], *, reset: bool = False) -> None:
        with self._lock:
            if pair not in self._pairs:
                return
            self._pairs.discard(pair)
        client, server = pair
        with suppress(OSError):
            if reset:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                client.shutdown(socket.SHUT_RDWR)
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        for end in pair:
            with suppress(OSError):
                end.close()
