"""The plan: limits and laws, its document against the documented schema, two plans on common random numbers."""

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from reliability import (
    cluster,
    job_state,
    lever_sets,
    levers,
    plan,
    plan_compare,
    plan_document,
    plan_schema,
    plan_terminal,
    plan_text,
)
from reliability.aliases import Names
from reliability.errors import ClusterError
from reliability.page import rounded
from reliability.quantities import Streams, interval

FILE = """\
name = "{name}"
[cluster]
gpus = 1024
gpus_per_node = 8
price_per_gpu_hour = 2
step_s = 10
[failures]
rate_per_1000_node_days = {{ value = 6.5, low = 5, high = 8.5 }}
shares = {{ gpu = 60, software = 40 }}
[checkpoint]
write_s = {write}
interval_min = 60
[recovery]
detection_s = {{ value = 60, low = 10, high = 600 }}
cold_restart_s = 400
standby_restart_s = 60
standby_nodes = 2
repair_h = {{ value = 24, low = 12, high = 48 }}
[stragglers]
slowdown = {{ value = 0.02, low = 0.01, high = 0.04 }}
[improvements]
detection_s = 10
[target]
ettr = 0.9
horizon_days = 30
"""


RUNS = 60


def made(name="x", write="30", draws=600, more="", old="", new="", runs=RUNS):
    text = FILE.format(name=name, write=write).replace(old or "\0", new) + more
    return plan.make(cluster.parse(text), draws, runs=runs)


def state_of(read, draws, seed=7):
    """The present state of a cluster, drawn, and the classes of its failures."""
    evidence, now = plan.current(read, Streams(seed, draws), Names(False))
    return now, evidence.classes


@pytest.fixture(scope="module")
def one():
    return made()


@pytest.fixture(scope="module")
def document(one):
    return plan_document.document(one)


# The states -----------------------------------------------------------------------------------------------------------


def test_the_plan_is_better_than_now_in_every_draw_but_for_the_interval(one):
    now, planned = one.now.state, one.planned.state
    assert one.planned.ettr.mean() > one.now.ettr.mean()
    assert (planned.detection <= now.detection).all()
    assert planned.interval == pytest.approx(job_state.best_interval(planned), rel=1e-6)
    assert planned.standbys == max(one.pools.best, now.standbys)


def test_the_file_is_what_is_drawn(one):
    now = one.now.state
    assert np.quantile(24_000 * now.rate, [0.5]) == pytest.approx([6.5], rel=0.03)
    assert now.shares[0] == pytest.approx([0.6, 0.4])
    assert now.on_node.tolist() == [True, False]
    assert now.interval == 3600 and now.standbys == 2


def test_a_checkpoint_from_its_size():
    small = made(
        old="write_s = 30", new="parameters_b = 70\nbytes_per_parameter = 14\nwrite_gb_s = 49\nblocking_share = 0.5"
    )
    assert small.now.state.write == pytest.approx(np.full(600, 10.0))


def test_the_formula_of_one_draw_is_the_chapter_models_by_hand():
    text = FILE.format(name="x", write="30")
    for table in (
        "{ value = 6.5, low = 5, high = 8.5 }",
        "{ value = 60, low = 10, high = 600 }",
        "{ value = 24, low = 12, high = 48 }",
        "{ value = 0.02, low = 0.01, high = 0.04 }",
    ):
        text = text.replace(table, table.split("value = ")[1].split(",")[0])
    sure, _ = state_of(cluster.parse(text.replace("repair_h", 'none_left = "wait"\nrepair_h')), draws=100)
    mtbf = 24_000 / 6.5 / 128 * 3600
    load = 128 * 6.5 / 24_000 * 0.6 * 24
    none = (load**2 / 2) / (1 + load + load**2 / 2)
    through = 0.4 * np.exp(-460 / mtbf) + 0.6 * ((1 - none) * np.exp(-120 / mtbf) + none * np.exp(-460 / mtbf))
    waits = none * load / (3 + none * load)
    by_hand = (1 - waits) * 3600 * through / (mtbf * np.expm1(3630 / mtbf)) / 1.02
    assert sure.ettr() == pytest.approx(np.full(100, by_hand), rel=1e-9)


# Levers ---------------------------------------------------------------------------------------------------------------


def gains(plan):
    return [float(np.median(plan.gain(simulated))) for _, simulated in plan.levers]


def test_levers_are_ranked_and_what_they_say(one):
    assert gains(one) == sorted(gains(one), reverse=True)
    by_name = {lever.name: (lever, simulated.state) for lever, simulated in one.levers}
    assert set(by_name) == {"rate", "detection", "restart", "write", "stragglers", "standbys", "interval"}
    assert {name for name, (lever, _) in by_name.items() if lever.offered} == {"detection", "standbys", "interval"}
    now = one.now.state
    assert by_name["rate"][1].rate == pytest.approx(now.rate / 2)
    assert (by_name["stragglers"][1].drag == 0).all() and (now.drag > 0).all()


def test_the_fewest_levers_are_the_fewest(one):
    found, target = [lever for lever, _ in one.levers], float(np.quantile(one.planned.ettr, 0.45))
    (way,) = lever_sets.smallest(one.now, found, target, (0.5,), one.with_levers)
    assert way.chance >= 0.5
    fewer = [chosen for size in range(len(way.names)) for chosen in combinations(way.names, size)]
    by_name = {lever.name: lever for lever in found}
    assert fewer and all(
        np.mean(one.with_levers([by_name[n] for n in chosen]).ettr >= target) < 0.5 for chosen in fewer
    )
    assert lever_sets.smallest(one.now, found, 0.2, (0.5,), one.with_levers)[0].names == ()
    assert lever_sets.smallest(one.now, found, 1.0, (0.5,), one.with_levers) == [None]


def test_a_way_reaches_the_target_with_the_chance_that_is_wanted(one):
    offered = [lever for lever, _ in one.levers if lever.offered]
    target = float(np.quantile(one.with_levers(offered).ettr, 0.7))
    unlikely, likely = lever_sets.smallest(one.now, offered, target, (0.15, 0.5), one.with_levers)
    assert likely is None
    assert 0.15 <= unlikely.chance < 0.4


def test_whether_levers_are_enough_is_simulated(one):
    """The formula only looks for the sets that are tried: what it says of them is not taken at its word."""
    found, tried = [lever for lever, _ in one.levers], []

    def worthless(chosen):
        tried.append({lever.name for lever in chosen})
        return one.now

    target = float(np.median(one.planned.ettr))
    assert np.mean(one.now.ettr >= target) < 0.5
    assert lever_sets.smallest(one.now, found, target, (0.5,), worthless) == [None]
    assert {"detection", "standbys", "interval"} in tried and len(tried) < 2 ** len(found) / 2


def test_a_yardstick_is_the_last_resort(one):
    found, target = [lever for lever, _ in one.levers], float(np.quantile(one.planned.ettr, 0.3))
    (way,) = lever_sets.smallest(one.now, found, target, (0.5,), one.with_levers)
    assert set(way.names) <= {"detection", "standbys", "interval"}


def test_the_rate_that_is_needed(one):
    target = float(np.median(one.planned.ettr)) + 0.005
    factor = lever_sets.rate_needed(one.planned, target)
    few = job_state.thinned(one.planned.state)
    less = replace(few, rate=few.rate * factor)
    less = replace(less, interval=job_state.best_interval(less))
    assert np.median(one.planned.by_formula(less)) == pytest.approx(target, abs=1e-4)
    assert lever_sets.rate_needed(one.planned, 0.5) == 1.0
    assert lever_sets.rate_needed(one.planned, 0.9999) is None


def test_improvements_of_every_kind():
    more = "".join(
        f"{line}\n"
        for line in (
            "rate_factor = 0.9",
            "cold_restart_s = 100",
            "standby_restart_s = 20",
            "write_s = 5",
            "slowdown = 0",
            "standby_nodes = 7",
            "interval_min = 20",
        )
    )
    full = made(old="[improvements]\n", new="[improvements]\n" + more)
    planned = full.planned.state
    assert all(lever.offered for lever, _ in full.levers)
    assert planned.rate == pytest.approx(0.9 * full.now.state.rate)
    assert (planned.standbys, planned.interval) == (7, 1200)
    assert {planned.cold[0], planned.swap[0], planned.write[0], planned.drag[0]} == {100, 20, 5, 0}


# The document ---------------------------------------------------------------------------------------------------------


def keys(value, prefix=""):
    """The dotted keys of a document, as its schema has them; what is inside a range, and what a log says, has none."""
    found = set()
    if isinstance(value, dict) and set(value) != {"value", "low", "high"} and prefix != "failures.logs":
        for key, part in value.items():
            dotted = f"{prefix}.{key}" if prefix else key
            found |= {dotted + "[]" if isinstance(part, list) and part and isinstance(part[0], dict) else dotted}
            found |= keys(part, dotted)
    if isinstance(value, list):
        for part in value:
            found |= keys(part, f"{prefix}[]")
    return found


def test_the_document_has_the_documented_keys_and_no_other(document):
    assert keys(document) == set(plan_schema.SCHEMA)


def ranges(value):
    if isinstance(value, dict):
        if set(value) == {"value", "low", "high"}:
            yield value
        else:
            for part in value.values():
                yield from ranges(part)
    if isinstance(value, list):
        for part in value:
            yield from ranges(part)


def test_its_ranges_are_ranges_and_it_is_json(document):
    found = list(ranges(document))
    assert len(found) > 50
    assert all(r["low"] <= r["value"] <= r["high"] for r in found)
    text = json.dumps(rounded(document), allow_nan=False)
    assert json.loads(text)["schema"] == "training-reliability/plan"


def test_its_lists_are_tables_for_a_notebook(document, one):
    frames = plan_document.frames(document)
    assert set(frames) == {"inputs", "hours", "levers", "classes", "unknown"}
    assert frames["hours"]["now"].tolist() == [row["now"]["value"] for row in document["hours"]]
    assert {"gain", "gain_low", "gain_high", "money"} <= set(frames["levers"].columns)
    assert len(frames["unknown"]) == len(document["unknown"])
    assert repr(one).startswith("Plan(name='x', ettr_now=0.9")
    assert "| where the hours go" in one._repr_markdown_()


def test_the_hours_add_up(document, one):
    assert [row["what"] for row in document["hours"]] == list(plan_text.BIN_WORDS) == list(plan_terminal.BIN_WORDS)
    assert sum(one.now.parts().values()) == pytest.approx(np.ones(600))
    assert document["ettr"]["now"] == document["hours"][0]["now"]
    assert document["cost"]["lost"]["value"] == pytest.approx(2 * document["cost"]["lost_gpu_hours"]["value"])
    assert document["interval"]["planned_steps"] == round(6 * document["interval"]["planned_min"])


def test_what_is_not_given_is_unknown_and_null():
    bare = FILE.format(name="", write="30")
    for line in (
        "price_per_gpu_hour = 2\n",
        "step_s = 10\n",
        "interval_min = 60\n",
        "repair_h = { value = 24, low = 12, high = 48 }\n",
        "[stragglers]\nslowdown = { value = 0.02, low = 0.01, high = 0.04 }\n",
    ):
        bare = bare.replace(line, "")
    found = plan_document.document(plan.make(cluster.parse(bare), draws=200, runs=RUNS))
    assert found["standbys"] is None and found["failures"]["repair_h"] is None
    assert found["interval"]["now_min"] is None and found["interval"]["planned_steps"] is None
    assert found["cost"]["lost"] is None and found["job"]["currency"] is None
    said = " ".join(row["what"] for row in found["unknown"])
    for word in (
        "price",
        "checkpoints now",
        "failed node stays away",
        "ranks are slow",
        "range of recovery.cold_restart_s",
    ):
        assert word in said
    text = "\n".join(plan_text.sections(found).values())
    assert "None" not in text and "nan" not in text and "No number of standbys can be advised" in text
    assert keys(found) <= set(plan_schema.SCHEMA)


# Text -----------------------------------------------------------------------------------------------------------------


def test_somebodys_words_stay_words():
    nasty = "a|b `c` $d$ *e* <script>x</script> [f](g) {h}`i`"
    document = plan_document.document(
        plan.make(
            cluster.parse(FILE.format(name=nasty, write="30").replace("gpu = 60", '"x|<b>" = 60')), draws=100, runs=20
        )
    )
    for text in plan_text.sections(document).values():
        assert "<" not in text and "`" not in text and "$" not in text
        rows = [line for line in text.split("\n") if line.startswith("|")]
        assert all(row.endswith("|") for row in rows)
    assert nasty in plan_terminal.plan(document).replace("\n", " ")


def test_the_terminal_gets_every_section_in_eighty_columns(document):
    text = plan_terminal.plan(document)
    assert "**" not in text
    assert max(len(line) for line in text.split("\n")) <= 80
    for heading in (
        "Failures",
        "Where the hours go",
        "ETTR",
        "Checkpoint interval",
        "Standby nodes",
        "What each lever",
        "Cost over the run",
        "Target",
        "Not known",
    ):
        assert f"\n{heading}" in text


# Two plans ------------------------------------------------------------------------------------------------------------


def test_the_same_cluster_twice_differs_in_nothing(one):
    for row in plan_compare.compare(one, made())["differences"]:
        assert row["difference"] == {"value": 0.0, "low": 0.0, "high": 0.0}
        assert row["chance_second_better"] is None


def test_common_random_numbers_make_the_difference_sharp(one):
    shorter = made(write="20")
    (row,) = [row for row in plan_compare.compare(one, shorter)["differences"] if row["what"] == "ettr_now"]
    own = row["first"]["high"] - row["first"]["low"]
    assert row["difference"]["low"] > 0 and row["chance_second_better"] == 1.0
    assert row["difference"]["high"] - row["difference"]["low"] < own / 10
    assert 0 < row["error"] < row["difference"]["value"] / 4
    assert "second is better" in plan_terminal.comparison(plan_compare.compare(one, shorter))


def test_plans_of_other_seeds_are_not_compared(one):
    with pytest.raises(ValueError, match="draws"):
        plan_compare.compare(one, made(draws=500, runs=2))


def test_a_cluster_file_that_is_not_there():
    with pytest.raises(ClusterError, match="cannot be read"):
        plan.make("no/such.toml")


def test_a_write_that_costs_nothing_is_as_good_at_any_interval(one):
    free = replace(one.now.state, write=np.full_like(one.now.state.write, 1e-300))
    low, high = job_state.good_intervals(free)
    # Uniformly within an interval of T, half of it is lost: half a percent of the mean time between failures, twice.
    assert 0 < low < 1e-100
    assert high == pytest.approx(0.01 * np.median(free.mtbf), rel=0.1)
    assert job_state.best_interval(free) < 1e-100


def test_waiting_for_a_repair_of_unknown_length_is_said():
    found = made(
        old="standby_restart_s = 60\nstandby_nodes = 2\nrepair_h = { value = 24, low = 12, high = 48 }",
        new='none_left = "wait"',
    )
    assert any("wait for it is taken to be none" in u.instead for u in found.evidence.unknown)
    assert (found.now.parts()["waiting"] == 0).all()


# The standbys that are planned ------------------------------------------------------------------------------------------


def test_the_plan_has_the_pool_that_it_recommends():
    # A long interval now: the pool that pays at that one is a smaller one.
    text = FILE.format(name="x", write="30").replace("interval_min = 60", "interval_min = 3000")
    text = text.replace("cold_restart_s = 400", "cold_restart_s = 9000").replace(
        "standby_nodes = 2", "standby_nodes = 0"
    )
    few = plan.make(cluster.parse(text.replace("gpus = 1024", "gpus = 8192")), 300, runs=4)
    at_once = levers.together(
        few.now.state, sorted((lv for lv, _ in few.levers if lv.offered), key=lambda lv: lv.name == "interval")
    )
    found = plan_document.document(few)["standbys"]
    assert found["planned"] == found["pays_best"] > at_once.standbys
    assert (found["spare"], found["spare_saves_gpu_hours"]) == (0, None)
    assert few.planned.state.interval == pytest.approx(job_state.best_interval(few.planned.state), rel=1e-6)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("standby_nodes = 2", "standby_nodes = 9", "keeps the 9 that stand by now"),
        ("[improvements]", "[improvements]\nstandby_nodes = 9", "keeps the 9 of improvements.standby"),
    ],
)
def test_spare_standbys_are_said_and_what_giving_them_back_saves(old, new, named):
    many = made(old=old, new=new)
    document = plan_document.document(many)
    found, spare = document["standbys"], 9 - document["standbys"]["pays_best"]
    assert found["planned"] == 9 and found["spare"] == spare > 0
    fewer = many.simulator.measure(replace(many.planned.state, standbys=found["pays_best"]))
    saved = plan_document.lost_gpu_hours(many, many.planned) - plan_document.lost_gpu_hours(many, fewer)
    assert found["spare_saves_gpu_hours"] == pytest.approx(interval(saved))
    assert named in plan_terminal._plainly(plan_text.standbys(document))
    assert "would pay best" in plan_text.answer(document)
    assert "USD" in plan_text.standbys(document).split("Giving")[1]


# The inputs -------------------------------------------------------------------------------------------------------------


def test_every_input_is_shown_with_its_range_and_unit(document):
    rows = {row["key"]: (row["value"], row["low"], row["high"], row["unit"]) for row in document["inputs"]}
    assert rows["checkpoint.write_s"] == (30, None, None, "s")
    assert rows["recovery.detection_s"] == (60, 10, 600, "s")
    assert rows["recovery.repair_h"] == (24, 12, 48, "h")
    assert rows["recovery.replacement_min"] == (None, None, None, "min")
    assert rows["cluster.price_per_gpu_hour"] == (2, None, None, "USD")
    assert {"cluster.gpus", "recovery.cold_restart_s", "recovery.standby_restart_s", "checkpoint.interval_min",
            "recovery.standby_nodes", "stragglers.slowdown", "target.horizon_days", "target.ettr"} <= set(rows)  # fmt: skip
    table = plan_text.sections(document)["inputs"]
    assert "60 (10 to 600) |" in table and "not given" in table and "1,024" in table
    assert "60 (10 to 600) s" in plan_terminal.plan(document)


def test_a_write_from_its_size_is_an_input_in_seconds():
    size = "parameters_b = 100\nbytes_per_parameter = 14\nwrite_gb_s = { value = 100, low = 50, high = 200 }"
    document = plan_document.document(made(old="write_s = 30", new=size, draws=2000))
    (row,) = [row for row in document["inputs"] if row["key"].startswith("checkpoint.parameters")]
    assert (row["value"], row["low"], row["high"]) == pytest.approx((14, 7, 28), rel=0.1) and row["unit"] == "s"


# What is lost, and where ------------------------------------------------------------------------------------------------


def test_lost_has_one_meaning(one, document):
    cost = document["cost"]
    rows = {row["what"]: row for row in plan_compare.compare(one, made(write="20"))["differences"]}
    assert rows["lost_gpu_hours"]["first"] == cost["lost_gpu_hours"]
    assert rows["lost_gpu_hours_planned"]["first"] == cost["lost_gpu_hours_planned"]
    mean = {name: np.mean(plan_document.lost_gpu_hours(one, getattr(one, name))) for name in ("now", "planned")}
    assert mean["now"] == pytest.approx(one.gpu_hours * (1 - one.now.ettr.mean()) + 2 * 8 * 720)
    assert "standbys included" in plan_terminal.plan(document)


def test_a_comparison_shows_hours_and_money_and_no_difference_where_there_is_none(one):
    found = plan_compare.compare(one, made(write="29"))
    text = plan_terminal.comparison(found)
    assert "no difference" in text.split("expected ETTR, under")[0]
    short = plan_terminal.comparison_short(found)
    assert "GPU-hours lost, standbys included" in short and "cost in USD" in short
    assert max(map(len, short.split("\n"))) <= 80


def test_waiting_has_a_row_where_the_job_waits(document):
    longer = plan_document.document(made(old="repair_h", new="replacement_min = 30\nrepair_h"))
    waits = plan_document.document(made(old="repair_h", new='none_left = "wait"\nrepair_h'))
    for found, waiting in ((longer, True), (document, False), (waits, True)):
        assert ("waiting for a node" in plan_text.sections(found)["hours"]) is waiting
        assert ("waiting for a node" in plan_terminal.plan(found)) is waiting


def test_medians_are_said_to_be_medians(document):
    for text in (plan_text.sections(document)["values"], plan_terminal.plan(document), plan_terminal.short(document)):
        said = " ".join(text.split())
        assert said.count("need not add up") == 1 and "median of 600 draws" in said


@pytest.mark.parametrize(("example", "runs"), [("llama3", 2), ("incidents", 20), ("slurm_xid", 60)])
def test_levers_stand_in_the_order_of_the_number_that_is_shown(example, runs):
    shown = gains(plan.make(f"example:{example}", draws=400, runs=runs))
    assert shown == sorted(shown, reverse=True)
