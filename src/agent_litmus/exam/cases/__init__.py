"""The cases, by what the agent goes for."""

from agent_litmus.exam.case import Case
from agent_litmus.exam.cases.acts import ACTS
from agent_litmus.exam.cases.files import FILES
from agent_litmus.exam.cases.host import HOST
from agent_litmus.exam.cases.kernel import KERNEL
from agent_litmus.exam.cases.limits import RESOURCES
from agent_litmus.exam.cases.network import NETWORK
from agent_litmus.exam.cases.processes import PROCESSES

ALL: tuple[Case, ...] = (*ACTS, *PROCESSES, *RESOURCES, *FILES, *HOST, *NETWORK, *KERNEL)
"""Every case, in the order they are run."""
