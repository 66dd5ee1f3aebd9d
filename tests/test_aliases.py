"""Aliases of hosts, users, jobs and files: stable, and nowhere a name is left."""

import pytest

from reliability.aliases import Names


def hidden():
    names = Names(hidden=True)
    names.learn(
        nodes=["gpu-a-1", "gpu-a-10", "db7.example.org", "a", "31"], users=["maria"], jobs=["4711", "llama run"]
    )
    return names


def test_names_in_the_order_of_their_appearance():
    names = hidden()
    assert [names.node(n) for n in ("gpu-a-10", "GPU-A-1", "31", "new")] == ["node-2", "node-1", "node-5", "node-6"]
    assert (names.user("maria"), names.job(4711), names.cluster("prod"), names.cluster("")) == (
        "user-1",
        "job-1",
        "cluster-1",
        "",
    )
    assert names.file("/srv/prod/log.csv") == names.file("/srv/prod/log.csv") == "file-1"
    assert names.node(None) is None


def test_shown_they_are_themselves_but_for_folders_and_control_characters():
    names = Names(hidden=False)
    assert (names.node("gpu-a-1"), names.file("/srv/prod/log.csv")) == ("gpu-a-1", "log.csv")
    assert names.node("a\x1b[2J") == r"a\x1b[2J"
    assert names.conceal("gpu-a-1 is down") == "gpu-a-1 is down"


@pytest.mark.parametrize(
    ("text", "concealed"),
    [
        ("gpu-a-1, gpu-a-10.", "node-1, node-2."),
        ("gpu-a-1.example.org: down", "node-1.example.org: down".replace(".example.org", "")),
        ("DB7.Example.org", "node-3"),
        ("(maria) ran llama run at 4711 of 31", "(user-1) ran job-2 at 4711 of 31"),
        ("a gpu-a-100 and marias", "a gpu-a-100 and marias"),
        ("| gpu-a-1 |", "| node-1 |"),
    ],
)
def test_a_name_is_found_as_a_word_of_its_own(text, concealed):
    assert hidden().conceal(text) == concealed


def test_words_of_the_product_stay():
    names = Names(hidden=True)
    names.learn(nodes=["standby"], jobs=["train"])
    assert names.conceal("a standby, and train", known=frozenset({"standby"})) == "a standby, and job-1"
