"""Programs the ETMv4 and ETE: plans to registers, and registers to plans and sentences."""
from __future__ import annotations

from typing import Mapping, Sequence

from . import _native


class Unit:
    """A trace unit as its ID registers describe it.

    `registers`: TRCIDR0 to TRCIDR5, TRCDEVARCH and TRCSSCSR0 to TRCSSCSR7; those that are left out
    are 0, which means a unit without those features.  `vhe`: the kernel runs at EL2.
    """

    def __init__(self, registers: Mapping[str, int], vhe: bool = False) -> None:
        self._native = _native.unit(dict(registers), vhe)

    def plan(self, text: str, programs: Sequence[str] = ()) -> 'Plan':
        """Compiles a plan; see docs/howto/program_etmv4.md for its grammar.

        `programs`: ELF files whose symbols the plan names, as FILE or FILE@ADDRESS.  A plan that
        the unit cannot do raises ParseError, which names each line.
        """
        return Plan(_native.compile_plan(text, self._native, list(programs)))


class Plan:
    """A plan that a unit supports."""

    def __init__(self, native: _native.Plan) -> None:
        self._native = native

    @property
    def registers(self) -> dict[str, int]:
        """The complete register values, in the order in which they are written."""
        return self._native.registers

    @property
    def writes(self) -> list[tuple[str, str]]:
        """Files of the Linux driver, and what is written to each, in order."""
        return self._native.writes

    @property
    def notes(self) -> list[str]:
        """Settings that are accepted but may be unintended."""
        return self._native.notes

    @property
    def beyond_sysfs(self) -> list[str]:
        """Settings for which the Linux driver has no file; `registers` has them."""
        return self._native.beyond_sysfs

    @property
    def lines(self) -> list[str]:
        """The plan, one setting per line, with all symbols resolved."""
        return self._native.lines

    @property
    def decode_options(self) -> str:
        """The options with which `waymark decode` reads the trace."""
        return self._native.decode_options

    def script(self, unit: str = 'etm0', root: str = '/sys/bus/coresight/devices') -> str:
        """The writes as a shell script."""
        return self._native.script(root, unit)

    def __repr__(self) -> str:
        return f'<waymark.etm4.Plan: {"; ".join(self.lines)}>'


def explain(registers: Mapping[str, int], ete: bool = False) -> dict[str, list[str]]:
    """The effect of registers as sentences (traces, decoder, doubts), and as the lines of a plan."""
    return _native.explain(dict(registers), ete)
