import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_about_the_command_line_is_current() -> None:
    done = subprocess.run([sys.executable, "scripts/cli_reference.py", "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0, "run: python scripts/cli_reference.py"


def test_help_stays_light() -> None:
    code = (
        "import sys, agent_litmus.cli.main as m\n"
        "m.invoke(['--help'])\n"
        "heavy = {'scipy', 'numpy', 'mcp', 'uvicorn', 'pydantic', 'altair', 'sqlalchemy', 'httpx2'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
