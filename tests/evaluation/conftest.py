"""A hand-written dataset: eight documents, eight edges, eight questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphroute.evaluation.dataset import Dataset, load_dataset
from graphroute.evaluation.question_set import Question, load_questions, question_files

WORLD = Path(__file__).parent / "world"


@pytest.fixture(scope="session")
def world() -> Path:
    return WORLD


@pytest.fixture(scope="session")
def dataset() -> Dataset:
    return load_dataset(WORLD)


@pytest.fixture(scope="session")
def questions() -> dict[str, Question]:
    return {question.qid: question for question in load_questions(question_files(WORLD))}
