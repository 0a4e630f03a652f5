from pathlib import Path

from agent_litmus.records.probe import CarrierKind, CheckKind, OracleAction, Provenance, TokenAlphabet
from agent_litmus.services.tools import TOOLS
from agent_litmus.suite.fields import Tool
from agent_litmus.suite.schema import EnvironmentModel, HostTaskModel, InjectionModel, SuiteModel

PAGE = (Path(__file__).parents[3] / "docs/reference/suite.md").read_text(encoding="utf-8")


def test_the_page_names_everything_a_suite_can_hold() -> None:
    names = [*SuiteModel.model_fields, *(kind.value for kind in CheckKind), *(kind.value for kind in CarrierKind)]
    names += [*EnvironmentModel.model_fields, *HostTaskModel.model_fields, *InjectionModel.model_fields]
    names += [alphabet.value for alphabet in TokenAlphabet]
    for name in names:
        assert f"`{name}`" in PAGE, name
    for action in OracleAction:
        assert f"`{action}:" in PAGE, action
    assert {p.value for p in Provenance} - {"system", "user"} <= set(PAGE.replace("`", " ").split())


def test_the_page_and_the_schema_name_the_tools_that_exist() -> None:
    assert set(Tool.__args__) == set(TOOLS)  # type: ignore[attr-defined]  # a Literal's values
    for tool in TOOLS:
        assert f"`{tool}" in PAGE, tool
