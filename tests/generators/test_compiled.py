"""Compiling takes a minute of a core on first use and is done once for all of these tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from demoloom.generators.learned.checkpoint import from_pretrained
from demoloom.generators.learned.compiled import compile_for_cuda
from demoloom.generators.learned.engine import Engine
from demoloom.generators.learned.inference import for_inference
from demoloom.generators.learned.world import LearnedWorld
from demoloom.storage.errors import ConfigError

_STEPS = 200
#: Of 255; measured on PushT 6 and 0.01 levels. Both compute in bfloat16, and round it at other places.
_LEVELS, _USUAL_LEVELS = 12, 0.1

Drive = dict[str, np.ndarray]


def _drive(world: LearnedWorld) -> Drive:
    """Observations and trust (steps, ...) from seed 0 on, under actions which go all over the board."""
    actions = np.random.default_rng(0).uniform(4, 28, (_STEPS, 1, 2))
    seen = [world.reset(seed=0)]
    for action in actions:
        observation, *_, info = world.step(action)
        seen.append((observation, info))
    names = [*seen[0][0], "trust", "score"]
    return {name: np.stack([{**observation, **info}[name] for observation, info in seen]) for name in names}


def _same(one: Drive, other: Drive) -> bool:
    return all(np.array_equal(one[name], other[name]) for name in one)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _use(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


@pytest.fixture
def without_compiler() -> Iterator[None]:
    """Makes this a machine that has none."""
    from torch._inductor import config

    with config.patch({"cpp.cxx": ("no-such-compiler",)}):
        yield


@pytest.mark.slow
def test_compiled_200_steps_show_what_they_do_otherwise(toy_world: Path) -> None:
    compiled, eager = (_drive(LearnedWorld(str(toy_world), 1, compile_model=one)) for one in (True, False))
    name = "observation.images.top"
    difference = np.abs(compiled[name].astype(int) - eager[name])
    assert difference.max() <= _LEVELS
    assert difference.mean() <= _USUAL_LEVELS
    assert np.allclose(compiled["observation.state"], eager["observation.state"], atol=0.01)
    assert np.allclose(compiled["trust"], eager["trust"], atol=0.01)
    assert np.allclose(compiled["score"], eager["score"], atol=0.01)


@pytest.mark.slow
def test_what_was_compiled_once_opens_without_a_compiler_and_shows_the_same_bytes(
    toy_world: Path, without_compiler: None
) -> None:
    first, second = (_drive(LearnedWorld(str(toy_world), 1, compile_model=True)) for _ in range(2))
    assert _same(first, second)


@pytest.mark.slow
def test_a_compiled_world_returns_to_a_snapshot_to_the_byte(toy_world: Path) -> None:
    world, action = LearnedWorld(str(toy_world), 1, compile_model=True), np.full((1, 2), 9.0)
    world.reset(seed=0)
    seen, *_ = world.step(action)
    then = world.snapshot()
    world.step(2 * action)
    assert _same(world.restore(then), seen)


@pytest.mark.slow
def test_a_damaged_cache_is_compiled_anew(toy_world: Path, cache: Path, without_compiler: None) -> None:
    LearnedWorld(str(toy_world), 1, compile_model=True)
    (file,) = cache.glob("demoloom/compiled/*/Engine-guess*.pt2")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ConfigError, match=r"compile_model needs a C\+\+ compiler"):
        LearnedWorld(str(toy_world), 1, compile_model=True)


def test_without_a_compiler_it_says_what_to_install(
    toy_world: Path, without_compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ConfigError, match=r"needs a C\+\+ compiler, and none works here; install g\+\+.*CXX"):
        LearnedWorld(str(toy_world), 1, compile_model=True)
    assert not any((tmp_path / "demoloom" / "compiled").iterdir())


def test_a_compiler_that_fails_is_named_with_its_reason(
    toy_world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch._inductor import config

    compiler = tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\n[ "$1" = --version ]\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    failing = config.patch({"cpp.cxx": (str(compiler),)})
    with failing, pytest.raises(ConfigError, match=r"the world cannot be compiled \(.*\); leave compile_model out"):
        LearnedWorld(str(toy_world), 1, compile_model=True)
    assert not any((tmp_path / "demoloom" / "compiled").iterdir())


def test_several_episodes_are_not_compiled_together_on_a_cpu(toy_world: Path) -> None:
    with pytest.raises(ConfigError, match="for one episode at a time, got num_envs 2"):
        LearnedWorld(str(toy_world), 2, compile_model=True)


def test_lineage_tells_a_compiled_world_from_another(toy_world: Path) -> None:
    identity = LearnedWorld(str(toy_world), 1).identity()
    assert "compile_model" not in identity


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Whose method `torch.compile` was given; it traces as for a GPU, and computes on the CPU without compiling."""
    given, compile_anything = list[Any](), torch.compile

    def compile_eagerly(method: Any, mode: str, **options: Any) -> Any:
        assert mode == "reduce-overhead"
        given.append(method.__self__)
        return compile_anything(method, backend="eager", **options)

    monkeypatch.setattr(torch, "compile", compile_eagerly)
    return given


def test_each_wide_network_is_one_graph_and_gives_the_same_numbers(toy_world: Path, traced: list[Any]) -> None:
    model = for_inference(from_pretrained(toy_world).model)
    inputs = (torch.zeros(1, 2, 8, 8, 8), torch.full((1, 2, 4), 0.1), torch.zeros(1, 2, 2))
    engine, more = Engine(model), (torch.zeros(1), torch.ones(1))
    task, none = torch.zeros(1, dtype=torch.int64), torch.zeros(1, 0, 8, 8, 8)

    def step() -> list[torch.Tensor]:
        latents, vectors, actions = inputs
        with torch.inference_mode():
            moved = engine.move(latents, vectors, *more, actions, vectors[:, -1], more[0], task, none)
            return [*moved, *engine.show(*moved[:2], *more, task, torch.zeros(1, 0, 3, 32, 32))]

    plain = step()
    compile_for_cuda(model.wide_networks)
    assert all(torch.equal(one, other) for one, other in zip(step(), plain, strict=True))
    assert traced == model.wide_networks
