"""The format `auto` stands for: chosen from measurements for the model and the budget, by a stated rule, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from graphroute.errors import ConfigurationError
from graphroute.serialization.formats import FORMATS
from graphroute.serialization.records import Profile

AUTO = "auto"
"""What a routes file says under `format:` to have one chosen."""

SCHEMA = 1

T = TypeVar("T")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Tolerance(_Part):
    """How much worse than the baseline a format may be and still be accepted, as differences of shares."""

    valid_paths: float = Field(default=0.0, ge=0.0, le=1.0)
    abstention: float = Field(default=0.0, ge=0.0, le=1.0)


class Row(_Part):
    """One variant at one budget.

    `model`: the exact name of the model that answered; None: the text was parsed and walked instead. `budget`: tokens of the whole prompt, None: not cut.
    `prompt_ratio` and `prompt_ratio_most`: whole prompt over the baseline's in the same profile, for the same uncut graphs, on average and at most. `round_trip`, `valid_paths`,
    `abstention`, `accuracy`: shares of the `n` questions they apply to; None: not measured.
    """

    model: str | None = None
    format: str
    version: str
    profile: Literal["full", "lean"]
    budget: int | None = None
    prompt_ratio: float = Field(gt=0.0)
    prompt_ratio_most: float = Field(gt=0.0)
    round_trip: float = Field(ge=0.0, le=1.0)
    valid_paths: float = Field(ge=0.0, le=1.0)
    abstention: float | None = Field(default=None, ge=0.0, le=1.0)
    accuracy: float = Field(ge=0.0, le=1.0)
    n: int = Field(ge=1)

    @property
    def label(self) -> str:
        """Format, version and profile."""
        return f"{self.format}/{self.version} {self.profile}"


class Measurements(_Part):
    """A file of measurements, as `graphroute formats bench` writes it. `overhead`: tokens of the prompt around the grammar and the text."""

    schema_version: int = Field(alias="schema")
    tokenizer: str
    overhead: int = Field(ge=0)
    baseline: str
    tolerance: Tolerance = Tolerance()
    graphs: dict[str, str]
    rows: list[Row] = Field(min_length=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatChoice:
    """The format to write in, and why. `reason` names formats, models and numbers and nothing of any question."""

    format: str
    profile: Profile
    reason: str = ""


def load_measurements(path: Path) -> Measurements:
    """A file of measurements. Raises ConfigurationError for one that is missing or wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            "cannot be read", where=str(path), hint="make it with graphroute formats bench"
        ) from error
    try:
        found = Measurements.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigurationError(f"{place}: {first['msg']}" if place else first["msg"], where=str(path)) from error
    if found.schema_version != SCHEMA:
        raise ConfigurationError(f"schema {found.schema_version}", where=str(path), allowed=str(SCHEMA))
    return found


def front(points: Iterable[T], *, cost: Callable[[T], float], gain: Callable[[T], float]) -> list[T]:
    """The Pareto front, cheapest first: points that no other beats in one of cost and gain without losing in the other. Equal points stay together."""
    found: list[T] = []
    for point in sorted(points, key=lambda point: (cost(point), -gain(point))):
        last = found[-1] if found else None
        if last is None or gain(point) > gain(last) or (cost(point), gain(point)) == (cost(last), gain(last)):
            found.append(point)
    return found


def refusal(row: Row, baseline: Row, tolerance: Tolerance) -> str | None:
    """Why a format is not accepted in place of the baseline at the same budget; None if it is.

    It must come back from its text in whole, keep valid paths and abstention within the tolerance, and save tokens of the whole prompt on every graph.
    """
    if row.round_trip < 1.0:
        return f"round trip {row.round_trip:.2f}"
    if row.valid_paths < baseline.valid_paths - tolerance.valid_paths:
        return f"valid paths {row.valid_paths:.2f} against {baseline.valid_paths:.2f}"
    if baseline.abstention is not None:
        if row.abstention is None:
            return "abstention not measured"
        if row.abstention < baseline.abstention - tolerance.abstention:
            return f"abstention {row.abstention:.2f} against {baseline.abstention:.2f}"
    if row.prompt_ratio_most >= 1.0:
        return f"no saving on the whole prompt ({row.prompt_ratio_most:.2f} of the baseline's)"
    return None


def choose(
    measurements: Measurements,
    *,
    model: str | None,
    tokenizer: str,
    budget: int,
    profile: str = Profile.FULL.value,
) -> FormatChoice:
    """The accepted format of a profile: on the front, with the highest accuracy, then the fewest tokens.

    `tokenizer`: its configured name; measurements with another are used, and the reason says so. `budget`: tokens of the evidence text; what stands around it is added before the measured budgets are looked at: the largest one that is not above, else the
    smallest. Rows of another version than the installed format's do not count. Without rows for the model those without a model count. Where nothing beats the
    baseline, it is the baseline. Raises ConfigurationError if the baseline itself was not measured.
    """
    current = [row for row in measurements.rows if row.profile == profile and _is_installed(row)]
    own = [row for row in current if row.model == model] if model is not None else []
    rows = own or [row for row in current if row.model is None]
    whole = budget + measurements.overhead
    measured = sorted({row.budget for row in rows if row.budget is not None})
    at = max((one for one in measured if one <= whole), default=measured[0] if measured else None)
    there = [row for row in rows if row.budget == at]
    baselines = [row for row in there if row.format == measurements.baseline]
    if not baselines:
        raise ConfigurationError(
            f"no measurements of the baseline {measurements.baseline!r} in its installed version",
            where="format: auto",
            hint="measure anew with graphroute formats bench",
        )
    baseline = baselines[0]
    accepted, refused = [baseline], []
    for row in there:
        if row is baseline:
            continue
        why = refusal(row, baseline, measurements.tolerance)
        if why is None:
            accepted.append(row)
        else:
            refused.append(f"{row.label}: {why}")
    best = sorted(
        front(accepted, cost=lambda row: row.prompt_ratio, gain=lambda row: row.accuracy),
        key=lambda row: (-row.accuracy, row.prompt_ratio, row.format),
    )[0]
    basis = f"measured with {model}" if own else "measured by parsing and walking the text"
    if model is not None and not own:
        basis += ", since nothing is measured with the configured model"
    size = "uncut" if at is None else f"at {at} tokens of prompt"
    parts = [
        f"{best.label}, {basis}, {size}: accuracy {best.accuracy:.2f} over {best.n} questions, "
        f"prompt {best.prompt_ratio:.2f} of {measurements.baseline}'s",
        f"baseline accuracy {baseline.accuracy:.2f}" if best is not baseline else "no accepted format is better",
        f"{len(accepted)} accepted, {len(refused)} refused" + (f" ({'; '.join(refused[:3])})" if refused else ""),
    ]
    if measurements.tokenizer.partition(" ")[0] != tokenizer:
        parts.append(f"tokens counted by {measurements.tokenizer}, not {tokenizer}")
    return FormatChoice(format=best.format, profile=Profile(best.profile), reason="; ".join(parts))


def _is_installed(row: Row) -> bool:
    return row.format in FORMATS and FORMATS.load(row.format).version == row.version
