from dataclasses import asdict

from demoloom.generators.fleet.losses import Lost, losses_file, lost_and_redone, note_losses, now, read_losses
from demoloom.generators.fleet.worker import Worker


def lost(plan, index, cause="its worker died", given_up=False):
    return Lost(plan.episode_id(index), index, plan.episode_seed(index), cause, given_up, now())


def test_losses_outlive_the_process_that_noted_them(counting_plan, tmp_path):
    noted = [lost(counting_plan(), index) for index in (3, 1)]
    note_losses(tmp_path / "store", noted)
    note_losses(tmp_path / "store", [lost(counting_plan(), 2)])
    assert [loss.index for loss in read_losses(tmp_path / "store")] == [3, 1, 2]
    assert asdict(read_losses(tmp_path / "store")[0]) == asdict(noted[0])


def test_a_store_that_lost_nothing_has_an_empty_table(tmp_path):
    assert lost_and_redone(tmp_path / "store") == []


def test_a_line_that_a_killed_driver_left_half_written_is_passed_over(counting_plan, tmp_path):
    note_losses(tmp_path / "store", [lost(counting_plan(), 0), lost(counting_plan(), 1)])
    file = losses_file(tmp_path / "store")
    file.write_text(file.read_text()[:-20])
    assert [loss.index for loss in read_losses(tmp_path / "store")] == [0]


def test_the_table_says_what_became_of_each(counting_plan, tmp_path):
    plan = counting_plan()
    Worker(plan, tmp_path / "store", 3).run([4])
    note_losses(
        tmp_path / "store",
        [
            lost(plan, 5, "RuntimeError: broke", given_up=True),
            lost(plan, 4),
            lost(plan, 4, "its node was lost"),
            lost(plan, 4),
            lost(plan, 6),
        ],
    )
    assert [
        (row["index"], row["times"], row["cause"], row["became"]) for row in lost_and_redone(tmp_path / "store")
    ] == [
        (4, 3, "its worker died", "made again"),
        (5, 1, "RuntimeError: broke", "given up"),
        (6, 1, "its worker died", "not made yet"),
    ]
    assert lost_and_redone(tmp_path / "store")[0]["seed"] == plan.episode_seed(4)
