from dataclasses import replace

from demoloom.storage import ZarrStore
from demoloom.storage.runs import FeedingRun, runs_of


def lineage_of_a_rollout(run_seed: int, seed: int) -> dict[str, object]:
    return {
        "code": "0.1.0+gabc",
        "plan": {"stage": "generate", "run_seed": run_seed, "stream": {"name": "pusht-expert", "kwargs": {"noise": 1}}},
        "world": {"name": "learned", "checkpoint": "c0ffee"},
        "seed": seed,
    }


def test_runs_are_listed_with_their_number_of_episodes(tmp_path, spec, make_episode):
    store = ZarrStore.create(tmp_path / "runs", spec)
    for index, run_seed in enumerate([7, 7, 8]):
        store.append(make_episode(index, lineage=lineage_of_a_rollout(run_seed, seed=index)))
    store.append(make_episode(3, lineage={"source": {"dataset": "aloha", "episode_index": 4}}))
    store.append(make_episode(4, lineage={}))
    made = FeedingRun("generate", "0.1.0+gabc", "learned c0ffee", "pusht-expert", 7, "", num_episodes=2)
    imported = FeedingRun("", "", "", "", None, "aloha", num_episodes=1)
    assert runs_of(store) == [made, replace(made, seed=8, num_episodes=1), imported, replace(imported, source="")]


def test_lineage_of_any_shape_is_survived(tmp_path, spec, make_episode):
    store = ZarrStore.create(tmp_path / "odd", spec)
    store.append(make_episode(0, lineage={"plan": [1], "world": {"size": 3}, "source": "a file", "code": None}))
    assert [run.world for run in runs_of(store)] == ['{"size": 3}']
