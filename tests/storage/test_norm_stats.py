import numpy as np
import pytest

from demoloom.storage.norm_stats import QUANTILES, image_stats, pixel_histogram, vector_stats


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
