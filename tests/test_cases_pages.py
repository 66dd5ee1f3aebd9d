"""The case of parameters that a run silently ignores (`b11`); that of a chapter that fails, `b12`, is in `test_site`."""

import json
from pathlib import Path

import pytest

from reliability import __main__ as cli
from reliability import arguments, scenarios
from reliability.errors import BadInput

CASE = Path(__file__).parents[2] / "shared/cases/b11_unknown_or_unused_parameter_ignored"
NAMES = {"mtbf_hours": "job_mtbf_h", "mtbf_hour": "job_mtbf_hour", "checkpoint_seconds": "write_s"}


@pytest.fixture(scope="module")
def sets():
    """The case's sets of parameters, under this book's names of them."""
    if not CASE.is_dir():
        pytest.skip("no ../shared/cases here")
    given = json.loads((CASE / "input.json").read_text(encoding="utf-8"))
    return {
        name: {NAMES[key]: str(value) for key, value in values.items()}
        for name, values in given.items()
        if name != "note"
    }


def checked(given):
    return arguments.check("checkpoint", scenarios.parameters("checkpoint"), scenarios.defaults("checkpoint"), given)


def printed(given):
    values = scenarios.defaults("checkpoint") | checked(given)
    return scenarios.scenario("checkpoint").compute(scenarios.inputs("checkpoint", values)).texts


def test_a_good_set_is_used(sets):
    used = printed(sets["good"])
    assert used != printed({})
    for name, value in sets["good"].items():  # each by itself reaches a result
        assert printed({name: value}) != printed({}), name
    assert used != printed(sets["good"] | {"job_mtbf_h": "51"})


@pytest.mark.parametrize(("name", "said"), [("misspelt", "job_mtbf_hour"), ("wrong_type", "50h"), ("nan", "nan")])
def test_the_others_are_refused(sets, name, said, tmp_path, capsys):
    with pytest.raises(BadInput, match=said):
        checked(sets[name])
    words = [word for pair in sets[name].items() for word in ("-p", *pair)]
    assert cli.main(["run", "checkpoint", *words, "--out", str(tmp_path / "out")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
