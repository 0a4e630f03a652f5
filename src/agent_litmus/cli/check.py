"""``litmus check``: is this configuration fit to judge an agent?"""

import sys

import typer

from agent_litmus.cli.options import (
    DEFAULT_CONFIG,
    ConfigOption,
    JobsOption,
    ProviderOption,
    SetOption,
    config_file,
    overrides,
)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("check", short_help="Find every error beforehand, and prove that the suite can judge.")(check)


def check(
    config: ConfigOption = DEFAULT_CONFIG,
    provider: ProviderOption = None,
    jobs: JobsOption = None,
    assignments: SetOption = None,
) -> int:
    """Report every error of configuration and suite, then prove the suite in real sessions.

    Exit: 0 fit, 2 not fit.
    """
    from agent_litmus.app.check import check_config
    from agent_litmus.app.check_report import agent_lines, located_problems, obligation_lines, table_lines
    from agent_litmus.app.doctor import report_lines
    from agent_litmus.config import load_config
    from agent_litmus.formats.hostile import visible

    settings = load_config(config_file(config), overrides(assignments, run__provider=provider, run__jobs=jobs))
    outcome = check_config(settings)
    problems = located_problems(settings, outcome)
    suite = outcome.suite
    lines = [
        *agent_lines(settings, outcome),
        f"suite  {suite.id} {suite.version}  {suite.digest}  {len(suite.probes)} probes",
        *report_lines(outcome.provider),
        "",
        *obligation_lines(settings, outcome),
        "",
        *table_lines(),
        "",
        f"{outcome.sessions} sessions played: host oracles, carriers, injection oracles, doing nothing",
        *(visible(problem, 2000) for problem in problems),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    verdict = "FIT  this suite can judge this agent here"
    if problems:
        verdict = f"NOT FIT  {len(problems)} problem(s), listed above; correct them and check again"
    sys.stdout.write(f"litmus: {verdict}\n")
    return 2 if problems else 0
