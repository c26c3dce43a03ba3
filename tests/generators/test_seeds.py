from demoloom.generators import episode_id, episode_seed


def test_the_seed_of_an_episode_is_fixed_for_all_time():
    assert episode_seed(0, 0) == episode_seed(0, 0)
    assert episode_seed(7, 3) == 3411976877185804603


def test_no_two_episodes_of_a_run_share_a_seed():
    assert len({episode_seed(5, index) for index in range(10_000)}) == 10_000


def test_seeds_of_two_runs_differ():
    assert not {episode_seed(1, i) for i in range(1000)} & {episode_seed(2, i) for i in range(1000)}


def test_an_id_sorts_by_index_and_is_safe_as_a_file_name():
    ids = [episode_id({"run_seed": 1}, index) for index in (2, 10, 100)]
    assert ids == sorted(ids)
    assert all(name.replace("-", "").isalnum() for name in ids)
