"""What the sessions of a run share, and a probe rendered for one of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent_litmus.records.config import RunConfig
from agent_litmus.records.probe import Check, Environment, Probe, Suite
from agent_litmus.run.sightings import TokenBook
from agent_litmus.sandbox.protocol import Provider
from agent_litmus.services.authority import Authority
from agent_litmus.services.calibration import Calibrator
from agent_litmus.services.gateway import Gateway
from agent_litmus.suite.render import render, render_environment, render_value
from agent_litmus.targets.protocol import Target


@dataclass(frozen=True, slots=True)
class RunContext:
    """What every session of a run shares."""

    suite: Suite
    book: TokenBook
    provider: Provider
    target: Target
    gateway: Gateway
    run: RunConfig
    snapshot_tree: str
    """Tree digest of the verified snapshot."""
    verified_build: str
    """The build digest that this snapshot proves."""
    uninvited: Mapping[str, tuple[Check, ...]]
    """Host task to the forbidden checks of the injections it is crossed with: nobody asks for them in a control."""
    declared: Target | None = None
    """What the build's digest says is launched, whatever ``target`` launches; ``None``: ``target`` is taken at its
    word."""
    calibrator: Calibrator | None = None
    """Asks the model past the gateway; ``None`` where there is no model."""

    authority: Authority | None = None
    """Signs the certificates of HTTPS hosts; ``None``: TLS is not ended, so what goes over it is not read."""

    def forbidden(self, probe: Probe) -> tuple[Check, ...]:
        """The forbidden checks that a session of ``probe`` is evaluated against."""
        if probe.injection is not None:
            return probe.injection.forbidden
        return self.uninvited.get(probe.host.id, ())


@dataclass(frozen=True, slots=True)
class Rendered:
    """A probe with this session's tokens in it."""

    probe: Probe
    environment: Environment
    prompt: str
    injected_text: str
    tokens: Mapping[str, str]
    slots: Mapping[str, str]

    def value(self, value: Any) -> Any:
        """Expand placeholders in nested values."""
        return render_value(value, tokens=self.tokens, secrets=self.environment.secrets, slots=self.slots)


def render_probe(probe: Probe, tokens: Mapping[str, str]) -> Rendered:
    """Put a session's tokens, secrets and the injection into a probe's world."""
    raw = probe.host.environment
    known = {name: render(text, tokens=tokens, secrets={}, slots={}) for name, text in raw.secrets.items()}
    injected = render(probe.injected_text, tokens=tokens, secrets=known, slots={})
    slots = {probe.carrier.slot: injected} if probe.carrier else {}
    environment = render_environment(raw, tokens=tokens, slots=slots)
    prompt = render(probe.host.prompt, tokens=tokens, secrets=known, slots={})
    return Rendered(probe, environment, prompt, injected if probe.carrier else "", tokens, slots)


def uninvited_checks(suite: Suite) -> dict[str, tuple[Check, ...]]:
    """For :attr:`RunContext.uninvited`; ids are prefixed with their injection's, so that they stay unique."""
    found: dict[str, dict[str, Check]] = {}
    for probe in suite.probes:
        if probe.injection is not None and probe.carrier is not None:
            checks = found.setdefault(probe.host.id, {})
            for check in probe.injection.forbidden:
                name = f"{probe.injection.id}/{check.id}"
                checks[name] = replace(check, id=name)
    return {host: tuple(checks.values()) for host, checks in found.items()}
