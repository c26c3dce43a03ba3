import tracemalloc

import numpy as np
import pytest

from demoloom.storage.norm_stats import QUANTILES, ColumnStats, image_stats, pixel_histogram, vector_stats


def test_vector_stats_are_those_of_numpy():
    rows = np.array([[0.0, 10.0], [1.0, 10.0], [2.0, 10.0], [3.0, 50.0]], np.float32)
    stats = vector_stats(rows)
    assert stats["min"].tolist() == [0, 10]
    assert stats["max"].tolist() == [3, 50]
    assert stats["mean"].tolist() == [1.5, 20]
    assert stats["count"].tolist() == [4]
    assert stats["q50"].tolist() == [1.5, 10]
    assert stats["std"][1] == pytest.approx(np.sqrt(300))


def test_image_stats_are_those_of_numpy_over_all_pixels():
    frames = np.random.default_rng(0).integers(0, 90, (5, 6, 7, 3), np.uint8)
    frames[..., 2] = 255
    stats = image_stats(pixel_histogram(frames), len(frames))
    pixels = frames.reshape(-1, 3) / 255.0
    expected = {name: np.quantile(pixels, q, axis=0) for name, q in QUANTILES.items()}
    expected |= {"mean": pixels.mean(0), "std": pixels.std(0), "min": pixels.min(0), "max": pixels.max(0)}
    for name, value in expected.items():
        assert stats[name].shape == (3, 1, 1)
        np.testing.assert_allclose(stats[name][:, 0, 0], value, rtol=1e-9, atol=1e-7, err_msg=name)
    assert stats["count"].tolist() == [5]


def columns():
    rng = np.random.default_rng(0)
    scales = rng.normal(size=(1000, 3)).astype(np.float32) * np.array([1, 100, 1e-3], np.float32)
    ranges = np.concatenate([rng.uniform(-scale, scale, (400, 1)) for scale in (0.1, 5, 90)]).astype(np.float32)
    return {
        "normal": scales,
        "constant": np.full((5, 2), 0.1, np.float32),
        "ranges": ranges,
        "numbers": np.arange(70_000)[:, None],
        "flags": rng.random((7, 1)) > 0.5,
        "one": np.array([[-2.5]], np.float32),
    }


@pytest.mark.parametrize("rows", columns().values(), ids=columns().keys())
def test_statistics_of_two_passes_are_numpys_on_all_rows(rows):
    stats = ColumnStats(rows.shape[1], rows.dtype)
    blocks = np.array_split(rows, min(3, len(rows)))
    for block in blocks:
        stats.add(block)
    stats.begin_second_pass()
    for block in blocks:
        stats.add_again(block)
    for name, value in vector_stats(rows).items():
        np.testing.assert_allclose(stats.finish()[name], value, rtol=1e-12, atol=1e-12)


def test_one_column_takes_the_same_memory_however_many_rows():
    stats = ColumnStats(1, np.dtype(np.float32))
    tracemalloc.start()
    for _ in range(4):
        stats.add(np.zeros((1 << 10, 1), np.float32))
    few = tracemalloc.get_traced_memory()[0]
    for _ in range(400):
        stats.add(np.zeros((1 << 10, 1), np.float32))
    assert tracemalloc.get_traced_memory()[0] < few + 10_000
    tracemalloc.stop()
