"""Random schemas, texts and lengths go through both formats, and from one to the other, bit for bit."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from demoloom.storage import Camera, Episode, EpisodeSpec, Vector, ZarrStore, open_dataset
from demoloom.storage.create import Format, new_dataset
from demoloom.storage.lerobot_store import LeRobotStore
from demoloom.storage.testing import assert_same
from demoloom.storage.video import ImageCodec, VideoCodec, VideoReader, VideoWriter

# The same examples in every run: a failure is one for the commit that it appears in.
checked = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
MAX_PIXELS = 200_000

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
names = st.text(
    st.sampled_from("/% ") | st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12
).filter(lambda name: "image" not in name and name.strip(".") != "")


@st.composite
def vectors(draw, max_size=32):
    dimensions = draw(st.lists(names, min_size=1, max_size=max_size, unique=True))
    low = draw(st.sampled_from([-1.0, 0.0, -3.5e6]))
    return Vector(
        tuple(dimensions), (low,) * len(dimensions), (low + draw(st.sampled_from([0.1, 2.0, 1e7])),) * len(dimensions)
    )


@st.composite
def specs(draw):
    cameras = draw(st.lists(names, max_size=3, unique=True))
    sides = st.integers(1, 33)
    return EpisodeSpec(
        fps=draw(st.integers(1, 120)),
        cameras=tuple(Camera(name, draw(sides), draw(sides)) for name in cameras),
        state=draw(vectors()),
        action=draw(vectors()),
        labels={name: draw(vectors(3)) for name in draw(st.lists(names, max_size=2, unique=True))},
        robot_type=draw(texts),
        intervention=draw(st.booleans()),
    )


@st.composite
def episodes(draw, spec):
    pixels = sum(camera.height * camera.width for camera in spec.cameras)
    length = draw(st.integers(1, min(500, max(1, MAX_PIXELS // max(1, pixels)))))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))

    def numbers(vector):
        low, high = np.asarray([vector.low, vector.high], np.float32)
        return np.clip(rng.uniform(low, high, (length, vector.size)).astype(np.float32), low, high)

    outcome = draw(st.sampled_from(["success", "failure", "untrusted", "error"]))
    return Episode(
        id=draw(st.from_regex(r"\A[A-Za-z0-9_][A-Za-z0-9._-]{0,20}\Z")),
        index=draw(st.integers(0, 1 << 31)),
        seed=draw(st.integers(0, 1 << 62)),
        task=draw(texts),
        images={
            camera.name: rng.integers(0, 256, (length, camera.height, camera.width, 3), np.uint8)
            for camera in spec.cameras
        },
        state=numbers(spec.state),
        action=numbers(spec.action),
        reward=rng.normal(size=length).astype(np.float32),
        success=rng.random(length) > 0.5,
        score=rng.random(length, np.float32),
        trust=rng.random(length, np.float32),
        labels={name: numbers(vector) for name, vector in spec.labels.items()},
        intervention=rng.random(length) > 0.5 if spec.intervention else None,
        outcome=outcome,
        reason="" if outcome == "success" else draw(texts.filter(bool)),
        lineage={"text": draw(texts), "numbers": [0.1, 1, None, True]},
    )


@st.composite
def datasets(draw):
    spec = draw(specs())
    drawn = draw(st.lists(episodes(spec), min_size=1, max_size=3, unique_by=lambda episode: episode.id.lower()))
    return spec, drawn


def check(path, written):
    found = {episode.id: episode for episode in open_dataset(path)}
    assert len(found) == len(written)
    for episode in written:
        assert_same(found[episode.id], episode)


@pytest.mark.parametrize("kind", ["zarr", "lerobot", "images"])
@given(datasets())
@checked
def test_any_episodes_come_back_bit_for_bit(kind, dataset):
    spec, written = dataset
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        codec = ImageCodec() if kind == "images" else VideoCodec()
        store = ZarrStore.create(path, spec) if kind == "zarr" else LeRobotStore.create(path, spec, codec=codec)
        for episode in written:
            assert store.append(episode)
        check(path, written)
        assert open_dataset(path).spec == spec


@given(datasets())
@checked
def test_any_episodes_go_from_one_format_to_the_other_and_back(dataset):
    spec, written = dataset
    with tempfile.TemporaryDirectory() as folder:
        source = ZarrStore.create(Path(folder) / "0", spec)
        for episode in written:
            source.append(episode)
        formats: list[Format] = ["lerobot", "lerobot", "zarr"]
        for number, format in enumerate(formats):
            with new_dataset(Path(folder) / str(number + 1), format, spec) as store:
                for episode in open_dataset(Path(folder) / str(number)):
                    store.append(episode)
            check(Path(folder) / str(number + 1), written)


@given(st.integers(2, 8), st.integers(2, 8), st.integers(1, 12), st.integers(0, 1 << 32))
@checked
def test_a_lossy_codec_keeps_every_block_of_every_frame_within_eight_levels(rows, columns, length, seed):
    colours = np.random.default_rng(seed).integers(0, 256, (length, rows, columns, 3), np.uint8)
    frames = colours.repeat(8, 1).repeat(8, 2)
    camera = Camera("top", *frames.shape[1:3])
    with tempfile.TemporaryDirectory() as folder:
        writer = VideoWriter(Path(folder) / "v", camera, 10, VideoCodec("yuv444p", crf=12))
        writer.write(frames)
        writer.close()
        decoded = VideoReader(camera, 10).read(Path(folder) / "v", 0, length)
    error = np.abs(decoded.astype(int) - frames).reshape(length, rows, 8, columns, 8, 3).mean((2, 4, 5))
    assert error.max() < 8
