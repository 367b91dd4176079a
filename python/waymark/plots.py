"""Plots of results, with matplotlib."""
from __future__ import annotations

from typing import Any, TYPE_CHECKING

from .errors import InvalidArgument

if TYPE_CHECKING:
    import pandas as pd
    from .capture import Intervals


def _axes(axes: Any) -> Any:
    if axes is not None:
        return axes
    from matplotlib import pyplot
    return pyplot.subplots()[1]


def _label(text: str) -> str:
    """The text, escaped so that matplotlib does not treat it as mathematics."""
    return text.replace('$', r'\$')


def functions(table: 'pd.DataFrame', most: int = 20, axes: Any = None) -> Any:
    """Bars of the functions with most instructions."""
    axes = _axes(axes)
    shown = table.nlargest(most, 'instructions')[::-1]
    names = [_label(str(name) or '(no name)') for name in shown['function']]
    axes.barh(range(len(names)), shown['instructions'].to_numpy(dtype=float))
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel('instructions')
    return axes


def histogram(intervals: 'Intervals', unit: str = 'instructions', axes: Any = None) -> Any:
    """Bars of how often each length occurred."""
    table = intervals.histogram
    rows = table[table['unit'] == unit]
    if rows.empty:
        raise InvalidArgument(f'There are no intervals in the unit {unit!r}; the units are '
                              f'{", ".join(sorted(set(table["unit"]))) or "none"}.')
    axes = _axes(axes)
    names = [f'{low}..{high}' for low, high in zip(rows['from'], rows['to'])]
    axes.bar(range(len(names)), rows['count'].to_numpy(dtype=float))
    axes.set_xticks(range(len(names)), names, rotation=45, ha='right')
    axes.set_xlabel(unit)
    axes.set_title(_label(f'{intervals.start} to {intervals.end}'))
    return axes
