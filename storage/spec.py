"""What an episode holds, as data: cameras, state, action, labels and rate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .atomic import read_json
from .errors import StoreError


@dataclass(frozen=True)
class Camera:
    """One RGB camera; its frames are (height, width, 3) uint8."""

    name: str
    height: int
    width: int

    def __str__(self) -> str:
        return f"{self.name} {self.width}x{self.height}"


@dataclass(frozen=True)
class Vector:
    """A named float32 vector with one name, low and high for each of its dimensions."""

    names: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        if not len(self.names) == len(self.low) == len(self.high):
            raise ValueError(
                f"a vector needs one low and one high for each name, got {len(self.names)} names, "
                f"{len(self.low)} lows and {len(self.high)} highs"
            )

    @property
    def size(self) -> int:
        """Number of dimensions."""
        return len(self.names)


@dataclass(frozen=True)
class EpisodeSpec:
    """The layout shared by a robot, its datasets, its world models and its policies.

    Args:
        fps: control and frame rate in Hz; row t of an episode is stamped exactly t / fps seconds.
        cameras: in a fixed order.
        state: what the robot reports of itself (LeRobot's `observation.state`).
        action: what it is commanded (LeRobot's `action`).
        labels: vectors only reality knows (a block's pose); a probe learns them, a policy never sees them.
        robot_type: LeRobot's `robot_type`.
        intervention: whether rows say who drove (`Rows.intervention`).
    """

    fps: int
    cameras: tuple[Camera, ...]
    state: Vector
    action: Vector
    labels: Mapping[str, Vector]
    robot_type: str
    intervention: bool = False

    def differences(self, other: EpisodeSpec) -> list[str]:
        """One sentence for each field in which `other` differs; one side may lack labels, and who drove."""
        found = [f"fps is {self.fps} here and {other.fps} there"] if self.fps != other.fps else []
        if self.cameras != other.cameras:
            here, there = (", ".join(map(str, spec.cameras)) or "none" for spec in (self, other))
            found.append(f"cameras are {here} here and {there} there")
        for name in ("state", "action"):
            found += _vector_differences(name, getattr(self, name), getattr(other, name))
        if self.robot_type != other.robot_type:
            found.append(f"robot_type is {self.robot_type!r} here and {other.robot_type!r} there")
        shared = self.labels.keys() & other.labels.keys()
        return found + [f"label {name!r} differs" for name in sorted(shared) if self.labels[name] != other.labels[name]]

    def all_differences(self, other: EpisodeSpec) -> list[str]:
        """As `differences`, and one sentence more where only one side has a label, or says who drove."""
        found = self.differences(other)
        if self.labels.keys() != other.labels.keys():
            found.append(f"labels are {sorted(self.labels)} here and {sorted(other.labels)} there")
        if self.intervention != other.intervention:
            here, there = ("says" if spec.intervention else "does not say" for spec in (self, other))
            found.append(f"intervention {here} who drove here and {there} who drove there")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        data = asdict(self)
        if not self.intervention:
            # The field is younger than many datasets, whose files and hashes stay what they are.
            del data["intervention"]
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EpisodeSpec:
        """Inverse of `to_dict`, also after a round trip through JSON.

        Raises:
            KeyError, TypeError, ValueError: `data` describes no spec.
        """
        if data["fps"] < 1:
            raise ValueError(f"fps is {data['fps']!r}")
        return cls(
            fps=int(data["fps"]),
            cameras=tuple(map(_camera, data["cameras"])),
            state=_vector(data["state"]),
            action=_vector(data["action"]),
            labels={name: _vector(vector) for name, vector in data["labels"].items()},
            robot_type=str(data["robot_type"]),
            intervention=_truth(data.get("intervention", False)),
        )


def _vector_differences(name: str, here: Vector, there: Vector) -> list[str]:
    """What differs between two vectors: the names, or the bounds of the dimensions in which they do."""
    if here.names != there.names:
        return [f"{name} is {', '.join(here.names)} here and {', '.join(there.names)} there"]
    bounds = zip(
        here.names, zip(here.low, here.high, strict=True), zip(there.low, there.high, strict=True), strict=True
    )
    differing = [
        f"{dim!r} {low} .. {high} here and {other_low} .. {other_high} there"
        for dim, (low, high), (other_low, other_high) in bounds
        if (low, high) != (other_low, other_high)
    ]
    return [f"{name} has other bounds: {', '.join(differing)}"] if differing else []


def read_spec(path: Path) -> EpisodeSpec:
    """The spec that a JSON file holds; other keys in it are passed over.

    Raises:
        StoreError: the file is missing or damaged.
    """
    try:
        return EpisodeSpec.from_dict(read_json(path))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        fault = f"{type(error).__name__}: {error}"
        raise StoreError(f"{path} describes no episodes ({fault}); restore it from a copy") from error


def _camera(data: Mapping[str, Any]) -> Camera:
    return Camera(name=_text(data["name"]), height=int(data["height"]), width=int(data["width"]))


def _vector(data: Mapping[str, Any]) -> Vector:
    return Vector(
        names=tuple(map(_text, data["names"])),
        low=tuple(map(float, data["low"])),
        high=tuple(map(float, data["high"])),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a name is {value!r}")
    return value


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"intervention is {value!r}")
    return value
