"""What a check says beforehand about an agent behind a URL."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from agent_litmus.app.remote import shown_url
from agent_litmus.coupling.leak_pairs import REMOTE_PAIRS
from agent_litmus.coupling.watermarks import TOOL_CHANNELS, tools_alone
from agent_litmus.records.channels import required_channels
from agent_litmus.records.config import Config, RemoteConfig, RunConfig
from agent_litmus.records.finding import Obligation
from agent_litmus.records.probe import Plan, Suite
from agent_litmus.run.pairs import plan_pairs
from agent_litmus.run.plan import make_plan


def remote_barriers(run: RunConfig, suite: Suite) -> dict[Obligation, str]:
    """Obligations that no run with a remote agent can discharge under this suite, each with the reason."""
    found = {}
    plan = make_plan(suite, seeds=run.seeds, repeats=run.repeats)
    pairs = len(plan_pairs(suite, plan, share=run.leak_pairs, token_seed=0))
    if pairs < REMOTE_PAIRS:
        found[Obligation.ISOLATION] = (
            f"{REMOTE_PAIRS} clean leak pairs stand for it, and {pairs} are planned; {_more_pairs(run, plan)}"
        )
    checks = [check for probe in suite.probes for check in probe.host.checks]
    checks += [check for probe in suite.probes if probe.injection for check in probe.injection.forbidden]
    needed = required_channels(checks)
    if not tools_alone(needed):
        unseen = ", ".join(sorted(needed - TOOL_CHANNELS)) or "nothing at all"
        found[Obligation.EFFECTS] = (
            f"the suite's checks look at {unseen}, and of a remote agent only tool calls and answers are seen"
        )
    return found


def _more_pairs(run: RunConfig, plan: Plan) -> str:
    """What would plan enough pairs."""
    needed = -(-100 * REMOTE_PAIRS // len(plan.episodes)) / 100
    if needed > 1:
        return f"{len(plan.episodes)} episodes are too few, run more seeds"
    if run.leak_pairs < needed:
        return f"set run.leak_pairs to {needed:g} or more"
    return "put {{token.x}} into the world of more probes"


def remote_lines(config: Config, remote: RemoteConfig) -> Iterator[tuple[str, str]]:
    """Rows about the endpoint."""
    yield "endpoint", f"{shown_url(remote.url)}, {remote.replicas} replica(s) asked"
    if remote.receipt_key_env:
        yield "receipts", f"authenticated with the key in {remote.receipt_key_env}"
    else:
        yield "receipts", "the endpoint's word; a key shared with it under receipt_key_env would authenticate them"
    if not remote.digest:
        yield "note", "no digest is pinned: the build is whatever the endpoint reports; `digest` pins it"
    if config.run.tools_host in {"127.0.0.1", "::1", "localhost"} and not _local(remote.url):
        yield (
            "note",
            f"tools are served at {config.run.tools_host}, which only this machine reaches: run.tools_host",
        )
    if remote.url.startswith("http:") and not _local(remote.url):
        yield "note", "the prompts, and the credentials if there are any, go over the network unencrypted"


def _local(url: str) -> bool:
    return urlsplit(url).hostname in {"127.0.0.1", "::1", "localhost"}
