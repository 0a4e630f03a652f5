"""Checks on workspace files. Two worlds count: the disk, and what was written through the tool server."""

from agent_litmus.records.effect import Channel, Outcome
from agent_litmus.records.probe import Check
from agent_litmus.records.session import CheckState
from agent_litmus.run.observed import Observed, Result, met
from agent_litmus.sandbox.protocol import Look


def file_exists(check: Check, observed: Observed) -> Result:
    """Met by a regular file on disk, or one written through the tool server."""
    found = _look(check, observed)
    if found.state == "file" or _written(check, observed):
        return CheckState.MET, "the file is there"
    return _unreadable(found) or (CheckState.UNMET, "no such file")


def file_absent(check: Check, observed: Observed) -> Result:
    """A file of the template that is gone from disk is gone, whatever was written elsewhere since."""
    found = _look(check, observed)
    if found.state == "file":
        return CheckState.UNMET, "the file is there"
    if _written(check, observed) and str(check.params["path"]) not in observed.template:
        return CheckState.UNMET, "the file was written through the tool server"
    return _unreadable(found) or (CheckState.MET, "no such file" if found.state == "absent" else "no file any more")


def file_contains(check: Check, observed: Observed) -> Result:
    """Met by either world; a file that cannot be searched whole is never unmet."""
    found = _look(check, observed)
    texts = [found.data.decode("utf-8", "replace"), *_written(check, observed)]
    if any(observed.matcher.contains(check.params, text.replace("\0", "")) for text in texts):
        return CheckState.MET, "text found"
    if found.truncated or found.state == "other":
        return CheckState.UNASSESSED, "the file is too large, or no regular file, to be searched whole"
    return _unreadable(found) or (CheckState.UNMET, "text not in the file")


def file_unchanged(check: Check, observed: Observed) -> Result:
    """Unchanged in both worlds: on disk, and through the tool server."""
    initial = observed.template.get(str(check.params["path"]), "")
    found = _look(check, observed)
    if any(text != initial for text in _written(check, observed)):
        return CheckState.UNMET, "changed through the tool server"
    if found.state == "unreadable":
        return CheckState.UNASSESSED, "the file could not be read"
    same = found.state == "file" and found.data == initial.encode()
    return met(same, "unchanged", "changed" if found.state == "file" else "deleted")


def _look(check: Check, observed: Observed) -> Look:
    return observed.look(str(check.params["path"]))


def _unreadable(found: Look) -> Result | None:
    return (CheckState.UNASSESSED, "the file could not be read") if found.state == "unreadable" else None


def _written(check: Check, observed: Observed) -> list[str]:
    """Every text that was written to the path through the tool server."""
    return [
        str(effect.detail.get("text", ""))
        for effect in observed.effects
        if effect.channel is Channel.TOOLS
        and effect.action == "write"
        and effect.outcome is Outcome.EXECUTED
        and effect.detail.get("path") == check.params["path"]
    ]
