"""Frames to start from, since the release's checkpoints hold none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from ...storage.dataset import EpisodeReader, open_dataset
from ...storage.errors import SpecMismatch, StoreError
from ...storage.spec import Camera, EpisodeSpec

_SUFFIXES = (".png", ".jpg", ".jpeg")


@dataclass(frozen=True)
class Starts:
    """Moments to start from.

    Args:
        frames: (K, H, W, 3V) uint8, views in the spec's order.
        positions: (K, A) float32, the action that holds the robot where the frame shows it.
    """

    frames: np.ndarray
    positions: np.ndarray


def read_starts(path: Path, spec: EpisodeSpec) -> Starts:
    """The first moment of each episode of a dataset, or all images of a folder.

    Frames are cropped to a centred square and made as large as the spec says, as the release does. In a dataset the
    position is the first action. Of images it is not known, and taken to be the middle of the bounds; with several
    cameras there is a folder of images for each, named as the camera, matched by order of file name.

    Raises:
        StoreError: there is neither a dataset nor an image, or views do not match.
        SpecMismatch: the dataset is of another robot.
    """
    if not path.is_dir():
        raise StoreError(f"there is no folder {path} to take starts from; check the path")
    images = [_images(_folder(path, camera, spec), camera) for camera in spec.cameras]
    if all(len(view) == 0 for view in images):
        return _of_dataset(open_dataset(path), spec)
    counts = {camera.name: len(view) for camera, view in zip(spec.cameras, images, strict=True)}
    if len(set(counts.values())) > 1:
        raise StoreError(f"{path} has another number of images for each camera ({counts}); give each moment in all")
    middle = (np.asarray(spec.action.low) + np.asarray(spec.action.high)) / 2
    return Starts(np.concatenate(images, axis=-1), np.tile(middle.astype(np.float32), (len(images[0]), 1)))


def fit_frame(frame: np.ndarray, camera: Camera) -> np.ndarray:
    """(H, W, 3) uint8 cropped to the camera's shape around the middle, then made as large, each pixel a mean."""
    height, width = frame.shape[:2]
    scale = min(height / camera.height, width / camera.width)
    cut_height, cut_width = round(camera.height * scale), round(camera.width * scale)
    top, left = (height - cut_height) // 2, (width - cut_width) // 2
    image = Image.fromarray(frame[top : top + cut_height, left : left + cut_width])
    return np.asarray(image.resize((camera.width, camera.height), Image.Resampling.BOX))


def _of_dataset(reader: EpisodeReader, spec: EpisodeSpec) -> Starts:
    names = [_camera_there(reader, camera) for camera in spec.cameras]
    if reader.spec.action.size != spec.action.size:
        raise SpecMismatch(
            f"{reader.path} has actions of {reader.spec.action.size} numbers and the world of {spec.action.size}; "
            "take starts from data of the world's own task"
        )
    if not len(reader):
        raise StoreError(f"{reader.path} has no episodes to take starts from; give another dataset")
    firsts = [reader.rows(id, 0, 1) for id in reader.ids()]
    views = [
        np.stack([fit_frame(first.images[name][0], camera) for first in firsts])
        for name, camera in zip(names, spec.cameras, strict=True)
    ]
    return Starts(np.concatenate(views, axis=-1), np.concatenate([first.action for first in firsts]))


def _camera_there(reader: EpisodeReader, camera: Camera) -> str:
    """What the dataset calls a camera; the release's own name of it ends in `_color`."""
    there = [found.name for found in reader.spec.cameras]
    for name in (camera.name, f"{camera.name}_color"):
        if name in there:
            return name
    raise SpecMismatch(
        f"{reader.path} has no camera {camera.name!r}, only {', '.join(there)}; take starts from data of that camera"
    )


def _folder(path: Path, camera: Camera, spec: EpisodeSpec) -> Path:
    return path if len(spec.cameras) == 1 and not (path / camera.name).is_dir() else path / camera.name


def _images(folder: Path, camera: Camera) -> np.ndarray:
    """(K, H, W, 3) uint8, in the order of their names."""
    files = sorted(file for file in folder.glob("*") if file.suffix.lower() in _SUFFIXES)
    frames = [fit_frame(_image(file), camera) for file in files]
    return np.stack(frames) if frames else np.empty((0, camera.height, camera.width, 3), np.uint8)


def _image(file: Path) -> np.ndarray:
    try:
        with Image.open(file) as image:
            return np.asarray(image.convert("RGB"))
    except (UnidentifiedImageError, OSError) as error:
        raise StoreError(f"{file} is not an image that can be read ({error}); remove it") from error
