"""BM25: its parameters and the idf that is never negative; shared by the engines of lexical search.

S. Robertson and H. Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009.
"""

from __future__ import annotations

import math

K1 = 1.5
B = 0.75


def idf(documents: int, frequency: int) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)), above zero for any n <= N."""
    return math.log(1.0 + (documents - frequency + 0.5) / (frequency + 0.5))
