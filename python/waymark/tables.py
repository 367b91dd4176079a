"""Results of analyses as pandas frames."""
from __future__ import annotations

from typing import Any, Mapping, TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def to_frame(columns: Mapping[str, Any]) -> 'pd.DataFrame':
    """A frame of columns from the native part; lists of words become categories."""
    import pandas as pd

    made: dict[str, Any] = {}
    for name, values in columns.items():
        made[name] = values if isinstance(values, np.ndarray) else pd.Categorical(values)
    return pd.DataFrame(made)
