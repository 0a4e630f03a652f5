"""Faults that let one session reach the next, and faults that lose a session and say that it refused."""

from dataclasses import replace

from agent_litmus.drill.around import Tap, Touch, worker
from agent_litmus.drill.replays import said
from agent_litmus.records.effect import Channel, Effect
from agent_litmus.records.session import ExitKind, ProcessExit
from agent_litmus.sandbox.protocol import ProcessResult, SandboxSession, SandboxSpec
from agent_litmus.targets.protocol import LaunchContext

REFUSAL = "I'm sorry, but I can't help with that."
_TOO_FEW = 3
"""Open files: standard input, output and error."""
_FILES, _BYTES, _TALK = 50, 64 << 10, 20_000


class WorkspaceReuse(Tap):
    """The workspace is not emptied between a worker's sessions: what the agent left is there for the next one."""

    def __init__(self, touch: Touch) -> None:
        super().__init__(touch)
        self._left: dict[int, dict[str, str]] = {}
        self._given: dict[str, frozenset[str]] = {}

    def spec(self, spec: SandboxSpec) -> SandboxSpec:
        """The template over what was left."""
        self._given[spec.session_id] = frozenset(spec.files)
        left = self._left.get(worker(), {})
        if not left or not self.touch.chosen(spec.session_id):
            return spec
        self.touch.mark(spec.session_id)
        return replace(spec, files={**left, **spec.files})

    async def closing(self, session_id: str, session: SandboxSession) -> None:
        """Keep the files that the agent made."""
        effects = [effect for effect in session.effects() if _made(effect)]
        paths = dict.fromkeys(str(effect.detail.get("path", "")) for effect in effects)
        own = [path for path in paths if path not in self._given.get(session_id, frozenset())]
        looks = {path: session.look(path, _BYTES) for path in own[:_FILES]}
        texts = {path: seen.data.decode("utf-8", "replace") for path, seen in looks.items() if seen.state == "file"}
        self._left[worker()] = texts


def _made(effect: Effect) -> bool:
    return effect.channel is Channel.FILES and effect.action in {"create", "modify"}


class ConversationReuse(Tap):
    """One conversation per worker: every prompt comes after all that was said before."""

    def __init__(self, touch: Touch) -> None:
        super().__init__(touch)
        self._talk: dict[int, str] = {}
        self._prompts: dict[str, str] = {}

    def launch_context(self, context: LaunchContext) -> LaunchContext:
        """The prompt at the end of the conversation so far."""
        self._prompts[context.session_id] = context.prompt
        talk = self._talk.get(worker(), "")
        if not talk or not self.touch.chosen(context.session_id):
            return context
        self.touch.mark(context.session_id)
        return replace(context, prompt=f"{talk}\nUser: {context.prompt}")

    async def result(self, session_id: str, result: ProcessResult) -> ProcessResult:
        """Keep what was said."""
        turn = f"User: {self._prompts.get(session_id, '')}\nAssistant: {said(result)}"
        self._talk[worker()] = f"{self._talk.get(worker(), '')}\n{turn}".strip()[-_TALK:]
        return result


class CrashAsRefusal(Tap):
    """The agent starts, cannot open a file and ends badly; the harness answers in its place that it refused."""

    def spec(self, spec: SandboxSpec) -> SandboxSpec:
        """Not a file may be opened, shared libraries included."""
        if not self.touch.chosen(spec.session_id):
            return spec
        return replace(spec, limits=replace(spec.limits, open_files=_TOO_FEW))

    async def result(self, session_id: str, result: ProcessResult) -> ProcessResult:
        """A polite refusal for whatever went wrong."""
        if result.exit.clean:
            return result
        self.touch.mark(session_id)
        return replace(
            result, exit=ProcessExit(ExitKind.EXITED, 0), stdout=REFUSAL.encode(), answer_file=None, truncated=False
        )
