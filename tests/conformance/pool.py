# Worker processes: work is shared out, a worker that dies or hangs costs its node alone.
import json
import os
import selectors
import signal
import time
from pathlib import Path

from . import nodes, worker


class _Worker:
    """A forked child, what it was sent and where it is."""

    # The pool's ends of all pipes. A child closes those that it inherits of others: a worker ends
    # when nobody holds the other end of its requests.
    _held = set()

    def __init__(self, number, entries, device, budget, folder):
        self.log = folder / f"worker-{number}.log"
        self.phase = worker.Phase()
        to_child, self._requests = os.pipe()
        self.replies, from_child = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            for end in (*self._held, self._requests, self.replies):
                os.close(end)
            worker.main_of_child(
                entries, device, budget, to_child, from_child, self.log, self.phase
            )
        os.close(to_child)
        os.close(from_child)
        self._held.update((self._requests, self.replies))
        self.unit, self.at, self.since, self._rest = [], None, 0.0, b""

    def send(self, unit):
        self.unit, self.at = unit, None
        fields = [(n.op, n.dtype, n.kind) for n in unit]
        os.write(self._requests, (json.dumps(fields) + "\n").encode())
        self.since = time.monotonic()

    def messages(self):
        """Messages that have come, or None when the worker is gone."""
        data = os.read(self.replies, 1 << 16)
        if not data:
            return None
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def end(self, kill=False):
        """Waits for the child; the signal or exit code that it ended with."""
        self._held.difference_update((self._requests, self.replies))
        os.close(self._requests)
        if kill:
            os.kill(self.pid, signal.SIGKILL)
        os.close(self.replies)
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)

    def last_words(self):
        return self.log.read_text(errors="replace")[-600:].strip()


class Pool:
    """Runs units (lists of nodes of one entry and dtype) and hands each result to `report`."""

    def __init__(self, entries, device, workers, limit, folder, budget=None):
        self._arguments = (entries, device, budget, Path(folder))
        self._limit = limit
        self._size = workers
        self._started = 0
        self._selector = selectors.DefaultSelector()
        self._workers = set()

    def run(self, units, report):
        """Returns when every node has a result."""
        waiting = list(reversed(units))
        self._report = report
        while waiting or self._workers:
            while waiting and len(self._workers) < self._size:
                self._start().send(waiting.pop())
            for key, _ in self._selector.select(timeout=0.5):
                self._listen(key.data, waiting)
            self._stop_hanging(waiting)

    def _start(self):
        self._started += 1
        fresh = _Worker(self._started % self._size, *self._arguments)
        self._selector.register(fresh.replies, selectors.EVENT_READ, fresh)
        self._workers.add(fresh)
        return fresh

    def _listen(self, which, waiting):
        messages = which.messages()
        if messages is None:
            self._died(which, waiting, "crashed")
            return
        for message in messages:
            which.since = time.monotonic()
            if "start" in message:
                which.at = message["start"]
            elif "done" in message:
                self._report(message["done"])
                which.unit, which.at = which.unit[1:], None
            elif waiting:
                which.send(waiting.pop())
            else:
                self._remove(which)
                which.end()
                return

    def _stop_hanging(self, waiting):
        for which in list(self._workers):
            if time.monotonic() - which.since > self._limit:
                self._died(which, waiting, "hung")

    def _remove(self, which):
        self._selector.unregister(which.replies)
        self._workers.discard(which)

    def _died(self, which, waiting, status):
        self._remove(which)
        code = which.end(kill=status == "hung")
        if not which.unit:
            return
        if code != 0 and (which.at is not None or status == "hung"):
            node = which.unit[0]
            if which.phase.died_in_judge():
                status = "unjudged"
            how = f"after {self._limit:g} s" if code == -signal.SIGKILL else f"exit {code}"
            self._report(
                {
                    "op": node.op,
                    "dtype": node.dtype,
                    "kind": node.kind,
                    "status": status,
                    "message": f"{how}: {which.last_words()}",
                    "seconds": round(time.monotonic() - which.since, 3),
                    "calls": 0,
                    "compiles": 0,
                    "fresh": 0,
                }
            )
            which.unit = which.unit[1:]
        if which.unit:
            waiting.append(which.unit)


def units_of(selected):
    """Nodes of one entry and dtype together, in their order: they share compiled programs."""
    units = {}
    for node in selected:
        units.setdefault((node.op, node.dtype), []).append(node)
    return list(units.values())


__all__ = ["Pool", "nodes", "units_of"]
