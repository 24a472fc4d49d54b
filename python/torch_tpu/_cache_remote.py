"""Serves tier 3 of the program cache from any place that fsspec opens.

C++ puts requests into a queue; daemon threads of this module answer them. Nothing waits for these
threads: a storage that is slow, broken or gone costs a compile and no more.
"""

import atexit
import importlib
import os
import threading
import weakref
from datetime import datetime
from typing import Any

from torch_tpu import _C

_THREADS = 5  # four readers and the writer
_open: "weakref.WeakSet[_C._RemoteStorage]" = weakref.WeakSet()
_parents: list["_C._RemoteStorage"] = []  # of the process that forked this one
_installed = False


def serve(url: str) -> "_C._RemoteStorage":
    """A storage at `url`. Fails at once when fsspec or the extra for the scheme is missing."""
    try:
        fsspec = importlib.import_module("fsspec")
        fsspec.get_filesystem_class(url.split("://", 1)[0])
    except (ImportError, ValueError) as error:
        raise ImportError(
            f"the program cache cannot reach {url}: {error}. Install the extra: "
            "pip install 'torchtpu[cache]', for gs:// 'torchtpu[cache-gcs]'"
        ) from error
    _install()
    storage = _C._RemoteStorage(url.rstrip("/"))
    _open.add(storage)
    for number in range(_THREADS):
        threading.Thread(
            target=_run, args=(storage, fsspec), name=f"tpu-cache-{number}", daemon=True
        ).start()
    return storage


def _install() -> None:
    global _installed
    if _installed:
        return
    _installed = True
    # Asynchronous storages cannot work any more when atexit runs: their executors are closed.
    getattr(threading, "_register_atexit", atexit.register)(_flush)
    os.register_at_fork(after_in_child=_serve_again)


def _serve_again() -> None:
    """Gives a forked child threads of its own: nobody would answer it."""
    # What threads of the parent wait in can neither be woken here nor freed.
    _parents.extend(_open)
    _open.clear()
    storage = _C._cache_storage(3)
    if any(storage is lost for lost in _parents):
        _C._cache_set_tier3_remote(serve(storage.description()))


def _run(storage: "_C._RemoteStorage", fsspec: Any) -> None:
    url = storage.description()
    system = None
    while (request := storage.next()) is not None:
        number, verb, name, data = request
        answer: dict[str, Any] = {"bytes": None, "error": None, "missing": False, "files": []}
        try:
            if system is None:
                system, path = fsspec.core.url_to_fs(url)
            _answer(system, path, verb, name, data, answer)
        except FileNotFoundError as error:
            answer.update(error=str(error), missing=True)
        except Exception as error:  # whatever a storage raises is no reason to end
            answer.update(error=f"{type(error).__name__}: {error}")
        storage.finish(number, **answer)


def _answer(
    system: Any, path: str, verb: str, name: str, data: bytes, answer: dict[str, Any]
) -> None:
    file = f"{path}/{name}"
    if verb == "read":
        answer["bytes"] = system.cat_file(file)
    elif verb == "write":
        _write(system, path, file, data)
    elif verb == "remove":
        if system.exists(file):
            system.rm_file(file)
    else:
        system.invalidate_cache()
        found = system.ls(path, detail=True) if system.exists(path) else []
        answer["files"] = [
            (item["name"].rsplit("/", 1)[-1], int(item["size"] or 0), _time(item))
            for item in found
            if item["type"] == "file"
        ]


def _write(system: Any, path: str, file: str, data: bytes) -> None:
    """Object stores show an object when it is whole; elsewhere a new name is moved into place."""
    if getattr(system, "protocol", None) not in ("file", ("file", "local")):
        system.makedirs(path, exist_ok=True)
        system.pipe_file(file, data)
        return
    system.makedirs(path, exist_ok=True)
    part = f"{file}.{os.getpid()}-{threading.get_ident()}.part"
    system.pipe_file(part, data)
    system.mv(part, file)


def _time(item: dict[str, Any]) -> int:
    """Unix time of the last change that the storage tells, else 0: the first to be pruned."""
    for key in ("mtime", "updated", "LastModified", "created"):
        value = item.get(key)
        if isinstance(value, int | float):
            return int(value)
        if isinstance(value, datetime):
            return int(value.timestamp())
        if isinstance(value, str):
            try:
                return int(datetime.fromisoformat(value).timestamp())
            except ValueError:
                continue
    return 0


def _flush() -> None:
    _C._cache_flush(float(os.environ.get("TORCH_TPU_COMPILATION_CACHE_EXIT_SECONDS") or 10))


def close() -> None:
    """Ends the threads that wait. One that is inside a storage is left to it."""
    for storage in list(_open):
        storage.close()
