"""Grid files: what they hold, every combination once, and what is refused."""

import pytest

from reliability import grid
from reliability.errors import BadInput

CLUSTER = "[cluster]\ngpus = 64\ngpus_per_node = 8\n[recovery]\nstandby_nodes = 1\n"


@pytest.fixture
def written(tmp_path):
    (tmp_path / "cluster.toml").write_text(CLUSTER)

    def write(text):
        path = tmp_path / "grid.toml"
        path.write_text(text)
        return path

    return write


def test_every_combination_once_the_last_axis_fastest(written):
    read = grid.read(
        written(
            'cluster = "cluster.toml"\n[grid]\n"cluster.gpus" = [64, 128]\n"recovery.none_left" = ["wait", "requeue"]\n'
        )
    )
    assert len(read) == 4
    assert [tuple(point.values()) for point in read.points()] == [
        (64, "wait"),
        (64, "requeue"),
        (128, "wait"),
        (128, "requeue"),
    ]
    assert (read.replications, read.seed) == (100, 1)


def test_the_settings_are_put_in_and_the_base_stays(written):
    read = grid.read(
        written('cluster = "cluster.toml"\n[grid]\n"cluster.gpus" = [128]\n"checkpoint.write_s" = [2.5]\n')
    )
    (point,) = read.points()
    document = read.document(point)
    assert document == {
        "cluster": {"gpus": 128, "gpus_per_node": 8},
        "recovery": {"standby_nodes": 1},
        "checkpoint": {"write_s": 2.5},
    }
    assert read.base["cluster"]["gpus"] == 64


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ("{ from = 0, to = 32, points = 5 }", (0, 8, 16, 24, 32)),
        ('{ from = 1, to = 1000, points = 4, spacing = "log" }', (1, 10, 100, 1000)),
        ("{ from = 0.0, to = 1.0, points = 3 }", (0.0, 0.5, 1.0)),
    ],
)
def test_ranges(written, given, values):
    read = grid.read(written(f'cluster = "cluster.toml"\n[grid]\nx = {given}\n'))
    assert read.axes["x"] == pytest.approx(values)
    assert list(map(type, read.axes["x"])) == list(map(type, values))


def test_an_example_can_be_swept(written):
    read = grid.read(written('cluster = "example:fleet"\n[grid]\n"fleet.warm_standbys" = [2, 4]\n'))
    assert [read.document(settings)["fleet"]["warm_standbys"] for settings in read.points()] == [2, 4]
    assert (read.folder / "fleet.toml").is_file()


HEAD = 'cluster = "cluster.toml"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "cluster: is missing; it must be the path of a cluster file"),
        ("cluster = 3", "cluster = 3"),
        ('cluster = "example:flet"\n[grid]\nx = [1]', "example:flet: no such example. Did you mean fleet?"),
        ('cluster = "no.toml"\n[grid]\nx = [1]', "no.toml: cannot be read"),
        (HEAD, "grid: must be a table"),
        (HEAD + "[grid]", "grid: must be a table"),
        (HEAD + "seeds = 3", "Did you mean seed"),
        (HEAD + "seed = -1\n[grid]\nx = [1]", "seed = -1"),
        (HEAD + "replications = 1\n[grid]\nx = [1]", "replications = 1: must be a whole number from 2"),
        (HEAD + "replications = true\n[grid]\nx = [1]", "replications = true"),
        (HEAD + "[grid]\nx = []", "grid.x = []"),
        (HEAD + "[grid]\nx = 3", "grid.x = 3"),
        (HEAD + "[grid]\nx = [1, 1]", "has a value twice"),
        (HEAD + "[grid]\nx = { from = 1 }", "grid.x.to: is missing; it must be a finite number"),
        (HEAD + "[grid]\nx = { from = 1, to = nan, points = 2 }", "grid.x.to = nan"),
        (HEAD + "[grid]\nx = { from = 1, to = 2, points = 1 }", "grid.x.points = 1"),
        (HEAD + "[grid]\nx = { from = 2, to = 1, points = 3 }", "from must be less"),
        (HEAD + '[grid]\nx = { from = 0, to = 1, points = 3, spacing = "log" }', "with log above 0"),
        (HEAD + '[grid]\nx = { from = 1, to = 2, points = 3, spacing = "even" }', "linear or log"),
        (HEAD + "[grid]\nx = { from = 1, to = 2, points = 3, step = 1 }", "grid.x.step"),
        (HEAD + "[grid]\ncluster.gpus = [8, 16]", "A name with dots stands in quotes"),
        (HEAD + "[grid]\nx = { from = 0, to = 3, points = 9 }", "no 9 different whole numbers"),
        (HEAD + '[grid]\n"cluster.gpus.x" = [1]', "gpus is no table"),
        (HEAD + '[grid]\n"cluster." = [1]', "must be a name"),
        (HEAD + "[grid]\n" + "\n".join(f"x{i} = {list(range(1000))}" for i in range(3)), "1,000,000,000 points"),
        ("\x00", "is not TOML"),
        ("[fleet]\njob_nodes = 8", "has a [fleet] table, which is for `simulate`"),
        ("[cluster]\ngpus = 8", "is a cluster file, which is for `plan` and `simulate`"),
        ('cluster = "cluster.toml"\n[grid]\nx = [600, 600.0]', "x = [600, 600.0]: has a value twice"),
        ('cluster = "grid.toml"\n[grid]\nx = [1]', "grid.toml: cluster = 'grid.toml': is a grid file; a cluster file is wanted"),
        (HEAD + f"seed = 0x1{5000 * '0'}\n[grid]\nx = [1]", "seed: a whole number of 20,001 bits; TOML has those from -2^63 to 2^63 - 1"),
        (HEAD + f"[grid]\nx = [1, 0x1{5000 * '0'}]", "grid.x.1: a whole number of 20,001 bits"),
        (HEAD + f"[grid]\nx = {{ from = 1, to = 0x1{500 * '0'}, points = 3 }}", "grid.x.to: a whole number of 2,001 bits"),
        (HEAD + "[grid]\nx = { from = -1.7e308, to = 1.7e308, points = 3 }", "from = -1.7e+308, to = 1.7e+308: are too far apart"),
        (HEAD + '[grid]\nx = { from = 1e-300, to = 1e300, points = 3, spacing = "log" }', "are too far apart"),
        (HEAD + f"[{'.'.join(['grid'] * 2000)}]\nx = 1", "grid.grid.grid…: more than 20 tables or lists within each other"),
        (HEAD + f'[grid]\n"{".".join(["x"] * 2000)}" = [1]', "leads through more than 20 tables"),
    ],
)
def test_what_is_refused(written, text, said):
    with pytest.raises(BadInput) as error:
        grid.read(written(text))
    assert said in str(error.value)
    assert any(name in str(error.value) for name in ("grid.toml", "no.toml", "example:flet"))
    assert "\n" not in str(error.value)


def test_a_cluster_file_with_tables_within_tables_without_end_is_refused(written, tmp_path):
    (tmp_path / "cluster.toml").write_text(f"[{'.'.join(['a'] * 2000)}]\nx = 1")
    with pytest.raises(BadInput, match="cluster.toml: a.a.a…: more than 20 tables or lists within each other"):
        grid.read(written(HEAD + "[grid]\nx = [1]"))


def test_an_example_is_no_grid_file():
    with pytest.raises(BadInput, match="example:fleet: a grid file is wanted, by its path; an example is a cluster file"):
        grid.read("example:fleet")


def test_a_name_that_would_command_a_terminal_is_shown_escaped(written):
    with pytest.raises(BadInput, match=r"grid\.x\\x1b\\n = 3: must be a list") as error:
        grid.read(written(HEAD + '[grid]\n"x\\u001b\\n" = 3'))
    assert str(error.value).isprintable()


def test_no_such_file(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        grid.read(tmp_path / "none.toml")
