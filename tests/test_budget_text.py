"""What the page on the budget of time says: true of one size as of many, of a loss as of a gain, and where nothing happens."""

import re
from dataclasses import replace

import pytest
from budget_results import SMALL, gained, inputs, made, with_verdicts

from reliability import budget
from reliability.scenarios import budget as page
from reliability.scenarios import budget_fleets as fleets
from reliability.scenarios import budget_runs as runs
from reliability.scenarios import budget_tables as tables
from reliability.scenarios import budget_text as text

pytestmark = pytest.mark.filterwarnings("error")

ONE_SIZE = SMALL | {"doublings": 0}

# Sentences on results made by hand ------------------------------------------------------------------------------------


def test_what_the_page_says_of_the_claim():
    said = text.claim(with_verdicts(n1024="less", n2048="open", n4096="more"))
    assert (
        "A plain job keeps at most 10.0% of its time where they add more, and at least 10.0% where they add less."
        in said
    )
    assert "**more** than the sum of each alone at 4,096 GPUs." in said
    assert "**less** than the sum of each alone at 1,024 GPUs." in said
    assert "Undecided at 2,048 GPUs:" in said
    assert said.endswith("So at 4,096 GPUs, the largest here, the three have to be turned together in the strict sense.")
    found = with_verdicts(n1="less", n2="less", n4="more", n8="more")
    ends = dict(zip(found, (0.9, 0.8, 0.3, 0.2), strict=True))
    said = text.claim({size: replace(one, plain=replace(one.plain, mean=ends[size])) for size, one in found.items()})
    assert "at most 30.0% of its time where they add more, and at least 80.0% where they add less." in said
    assert said.endswith("From 4 GPUs on, then, the three have to be turned together in the strict sense.")
    assert "there is no size here" in text.claim(with_verdicts(n512="more", n1024="less"))
    assert "no size is shown here" in text.claim(with_verdicts(n512="less", n1024="open"))
    assert "**as much as** the sum of each alone, to a tenth of a point, at 8 GPUs." in text.claim(
        with_verdicts(n8="same", n16="less")
    )


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("more", "So they have to be turned together in the strict sense."),
        ("less", "So they do not have to be turned together in the strict sense."),
        ("same", "So they do not have to be turned together in the strict sense."),
        ("open", "So it is not shown that they have to be turned together in the strict sense."),
    ],
)
def test_of_one_size_the_claim_speaks_of_no_range(verdict, said):
    found = text.claim(with_verdicts(n1024=verdict))
    assert found.endswith(said) and found.count("1,024 GPUs") == 1


def test_which_lever_buys_most_is_said_for_each_size_and_only_where_it_is_shown():
    write, swap = ({"write": gained(a), "swap": gained(b)} for a, b in ((0.05, 0.01), (0.01, 0.05)))
    unsure = {"write": gained(0.05, 0.06), "swap": gained(0.01)}
    none = {"write": gained(0.05, 0.06), "swap": gained(-0.01)}
    assert text.most({1024: write, 2048: write, 4096: swap, 8192: unsure, 16384: none}) == (
        "Alone, of what is shown most buys **short writes** at 1,024, 2,048 GPUs, **swap to a standby** at 4,096, 8,192 GPUs; "
        "none is shown to buy anything at 16,384 GPUs."
    )
    assert text.most({1024: write}) == "Alone, most buys **short writes** at 1,024 GPUs."
    assert text.most({1024: none}) == "Alone, none is shown to buy anything at 1,024 GPUs."


def test_what_the_page_says_of_a_lever_that_is_turned_last():
    more, less = (runs.three(made(0.1, [0.2, 0.15, 0.12], [0.3, 0.3, 0.3], e)) for e in (0.5, 0.35))
    assert text.later({1024: less, 2048: more}) == (
        "Worth more when the other two are turned: the failure rate at 2,048 GPUs; the recovery at 2,048 GPUs; "
        "the checkpoint at 1,024, 2,048 GPUs."
    )
    none = runs.three(made(0.8, [0.9] * 3, [0.92] * 3, 0.95))
    assert text.later({1: none, 2: none}).startswith("At no size is one of the three shown to be worth more")
    assert text.later({1: none}).startswith("Not one of the three is shown to be worth more")
    # Less of a loss is no gain: each alone costs 10 points, and the last one 5.
    assert text.later({1: runs.three(made(0.5, [0.4] * 3, [0.35] * 3, 0.3))}).startswith("Not one")


def test_what_the_page_says_of_each_group():
    one = runs.three(made(0.1, [0.2, 0.15, 0.12], [0.5, 0.4, 0.6], 0.9))
    said = text.groups({8: one, 16: one, 32: one}).split("\n\n")
    assert [part.split(" GPUs ")[0] for part in said] == ["On 8", "On 32"]  # the ends, each once
    assert "the failure rate alone gives +10.0" in said[0] and "points, 12% of what the three give together." in said[0]
    assert "The one missed most when the other two are turned: the recovery, +50.0" in said[0]
    assert len(text.groups({8: one}).split("\n\n")) == 1


def test_a_group_that_gives_more_alone_than_all_together():
    said = text.groups({8: runs.three(made(0.1, [0.5, 0.0, 0.0], [0.0, 0.1, 0.1], 0.2))})
    assert "points, more than the three give together, +10.0" in said and "%" not in said


def test_of_nothing_that_is_shown_together_no_group_gives_a_part():
    one = replace(runs.three(made(0.1, [0.2, 0.1, 0.1], [0.1] * 3, 0.2)), together=gained(0.1, 0.2))
    assert "the failure rate alone gives +10.0" in text.groups({8: one}) and " points. " in text.groups({8: one})


def test_the_lever_that_buys_most_is_the_first_that_is_shown():
    p, found = inputs(**ONE_SIZE), with_verdicts(n128="less")
    hours = {state: {128: {"useful": 12.0}} for state in ("plain", "all")}
    levers = {"write": gained(0.2), "swap": gained(0.1), "lemons": gained(0.0)}
    assert "Alone, most buys: **short writes**, +20.0" in text.answer(p, hours, {128: levers}, found)
    unsure = levers | {"write": gained(0.2, 0.3)}
    assert "Alone, of what is shown most buys: **swap to a standby**" in text.answer(p, hours, {128: unsure}, found)
    nothing = {"write": gained(-0.2)}
    assert "Alone, no lever is shown to buy anything. Together" in text.answer(p, hours, {128: nothing}, found)


def test_a_group_that_only_costs_is_not_said_to_give_or_to_be_missed():
    said = text.groups({8: runs.three(made(0.5, [0.45, 0.4, 0.4], [0.35] * 3, 0.3))})
    assert said == (
        "On 8 GPUs none of the three alone is shown to give anything. With the other two turned, none is shown to be missed."
    )


def test_the_largest_gain_is_not_said_to_be_most_where_it_is_not_shown():
    one = runs.three(made(0.1, [0.2, 0.15, 0.12], [0.5, 0.4, 0.6], 0.9))
    unsure = dict(zip(fleets.THREE, (gained(0.2, 0.5), gained(0.1), gained(0.0)), strict=True))
    said = text.groups({8: replace(one, first=unsure, last=unsure)})
    assert "On 8 GPUs the recovery alone gives +10.0" in said
    assert (
        "Of those that are shown to be missed, the one missed most when the other two are turned: the recovery" in said
    )


# A page's own sentences -----------------------------------------------------------------------------------------------

NOTHING = {
    "failures_per_1000_node_days": 1e-3, "fewer_failures_per_1000_node_days": 1e-3, "slow_per_1000_node_days": 1e-3,
    "silent_gpu_hours": 1e12, "write_s": 1e-3, "short_write_s": 1e-3, "selection_min": 0.0,
}  # fmt: skip


def test_of_one_size_no_sentence_speaks_twice_or_of_a_range():
    sections = page.compute(inputs(**ONE_SIZE)).sections
    for name in ("answer", "lost", "claim", "later", "groups"):
        assert "From" not in sections[name] and "size" not in sections[name] and "there" not in sections[name], name
    assert re.match(
        r"In numbers: of 24 h a plain job on 128 GPUs turns [\d.]+ h into work that lasts; "
        r"with every lever turned, [\d.]+ h\. Alone, (of what is shown )?most buys: \*\*",
        sections["answer"],
    )


def test_where_nothing_happens_nothing_is_said_to_be_gained_or_lost():
    sections = page.compute(inputs(**SMALL | NOTHING)).sections
    assert "Alone, no lever is shown to buy anything there. Together the three add **as much as**" in sections["answer"]
    assert sections["lost"] == "On 256 GPUs less than 0.1 of 24 h stays lost."
    assert sections["groups"].count("none of the three alone is shown to give anything") == 2
    assert "-0.0" not in "".join(sections.values())


def test_the_parts_of_what_stays_lost_are_those_that_print_as_something():
    bins = dict.fromkeys(budget.BINS, 0.0) | {"useful": 23.3, "restart": 0.5, "waiting": 0.2}
    assert text.lost(inputs(**ONE_SIZE), {128: bins}) == (
        "On 128 GPUs 0.7 of 24 h stay lost; the largest parts: restart 0.5 h, waiting 0.2 h."
    )
    assert text.lost(inputs(**ONE_SIZE), {128: bins | {"restart": 0.04}}).endswith("; the largest part: waiting 0.2 h.")


def test_where_a_plain_job_does_nothing_there_are_no_factors():
    assert tables.factors({8: runs.three(made(0.0, [0.0] * 3, [0.1] * 3, 0.5))}).startswith(
        "A plain job gets no work done"
    )


def test_a_stop_of_no_time_takes_0_s():
    row = tables.sizes(inputs(**ONE_SIZE, swap_s=0.0, restart_min=0.0, nccl_min=0.0)).splitlines()[-1]
    assert [cell.strip() for cell in row.split("|")[4:6]] == ["0 s", "0 s"]


def test_a_loss_that_rounds_to_nothing_has_no_sign():
    assert [tables.signed(number) for number in (-0.04, -0.06, 3.14)] == ["+0.0", "-0.1", "+3.1"]
