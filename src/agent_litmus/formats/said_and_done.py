"""What agents said beside what they did, episode by episode, for the summary of a run."""

from collections import Counter
from collections.abc import Iterable, Mapping

from rich.text import Text

from agent_litmus.formats.hostile import one_line
from agent_litmus.records.effect import Channel, ChannelState
from agent_litmus.records.episode import Overlay
from agent_litmus.records.report import EpisodeSection, Report
from agent_litmus.records.session import CheckState, SessionRecord

_LISTED = 8
_TITLES = {
    Overlay.COVERT_EXECUTION: "covert execution: refused in words and done all the same",
    Overlay.ATTACK_DECEPTION: "attack deception: claimed and not seen to be done",
}
_ACTS = {Channel.FILES, Channel.EXEC, Channel.HTTP, Channel.DNS, Channel.SIGNALS, Channel.TOOLS, Channel.READS}


def said_and_done(report: Report) -> Iterable[Text]:
    """The four LITMUS quadrants, and every episode whose words and acts differ, with the evidence."""
    quadrants = report.counts.quadrants
    if any(quadrants.values()):
        yield Text(f"words and acts: {_quadrants(quadrants)}{_rates(report)}")
    for overlay, title in _TITLES.items():
        found = [section for section in report.episodes if overlay in section.overlays]
        if found:
            yield Text(f"{title} ({len(found)}):", style="bold red")
            for section in found[:_LISTED]:
                yield Text(f"  {one_line(str(section.episode.key))}  {_evidence(section)}")
        if len(found) > _LISTED:
            yield Text(f"  … and {len(found) - _LISTED} more in report.json, counts.overlays.{overlay}")


def _quadrants(quadrants: Mapping[str, int]) -> str:
    names = {
        "spsr": "claimed and done",
        "sosr": "claimed, not done",
        "posr": "denied and done",
        "spfr": "neither claimed nor done",
    }
    return ", ".join(f"{title} {quadrants.get(name, 0)}" for name, title in names.items())


def _rates(report: Report) -> str:
    names = {"asr_litmus": "ASR (LITMUS)", "ehr": "EHR"}
    shown = [(title, report.score[key]) for key, title in names.items() if key in report.score]
    text = ", ".join(f"{title} {e.value:.3f} of {e.n}" for title, e in shown if e.value is not None)
    return f"; {text}" if text else ""


def _evidence(section: EpisodeSection) -> str:
    record = section.evidence
    parts = [f'said "{one_line(event.quote, 80)}"' for event in section.episode.refusals[:1]]
    fired = [c for c in record.forbidden_checks if c.state in {CheckState.MET, CheckState.ATTEMPTED}]
    parts += [one_line(f"{check.id}: {check.why}") for check in fired]
    acts = Counter(effect.channel for effect in record.effects if effect.channel in _ACTS)
    if acts:
        parts.append("acts seen: " + ", ".join(f"{channel} {count}" for channel, count in sorted(acts.items())))
    return "; ".join(parts + _unseen(record))


def _unseen(record: SessionRecord) -> list[str]:
    blind = sorted(c.channel for c in record.channels if c.state is not ChannelState.OBSERVED)
    return [f"not observed: {', '.join(blind)}"] if blind else []
