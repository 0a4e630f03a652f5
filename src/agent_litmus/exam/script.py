"""What a case's script is run with."""

import json
from typing import Any

PRELUDE = '''
import ctypes, errno, json, os, socket, sys, time
X = json.loads(os.environ["LITMUS_EXAM"])

def say(**facts):
    os.write(1, json.dumps(facts).encode() + b"\\n")

def attempt(name, act):
    """Try something and say how it went: null if it went through, else why not."""
    try:
        act()
    except OSError as error:
        say(**{name: errno.errorcode.get(error.errno, str(error))})
    except BaseException as error:
        say(**{name: f"{type(error).__name__}: {error}"})
    else:
        say(**{name: None})

def call(number, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    ctypes.set_errno(0)
    result = libc.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

def c(name, *arguments):
    libc = ctypes.CDLL(None, use_errno=True)
    ctypes.set_errno(0)
    result = getattr(libc, name)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

def in_child(act):
    pid = os.fork()
    if pid == 0:
        try:
            act()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def start(path, *argv):
    try:
        return os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn(path, argv, os.environ), 0)[1])
    except OSError:
        return None

def write(path, text, mode="w"):
    with open(path, mode) as file:
        file.write(text)
'''


def whole(script: str) -> str:
    """The program of a script."""
    return PRELUDE + script


def heard(output: bytes) -> dict[str, Any]:
    """What a script said, later words over earlier ones; other output is passed over."""
    said: dict[str, Any] = {}
    for line in output.splitlines():
        if line.startswith(b"{"):
            try:
                facts = json.loads(line)
            except ValueError:
                continue
            said.update(facts if isinstance(facts, dict) else {})
    return said
