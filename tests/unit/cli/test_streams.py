import os
from io import TextIOWrapper
from pathlib import Path

from agent_litmus.cli.streams import Quiet


def test_a_quiet_stream_passes_on_until_it_cannot(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with path.open("w") as file:
        quiet = Quiet(file)
        assert quiet.write("one\n") == 4
        quiet.flush()
        assert (quiet.encoding, quiet.isatty(), quiet.writable()) == (file.encoding, False, True)
    assert path.read_text() == "one\n"


def test_a_quiet_stream_never_raises_and_leaves_nothing_to_raise_later() -> None:
    read, write = os.pipe()
    os.close(read)
    with TextIOWrapper(os.fdopen(write, "wb"), encoding="utf-8") as pipe:
        quiet = Quiet(pipe)
        quiet.write("x" * 100_000)
        quiet.flush()
        quiet.write("more")
        quiet.flush()
