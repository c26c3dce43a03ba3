"""gym-pusht told where everything is: the judge of a learned PushT world, and its rival."""

from __future__ import annotations

import numpy as np

from demoloom.generators.realities.pusht import BOARD, PushTReality

#: gym-pusht moves its agent by these, ten times a frame, whatever it pushes.
_K_P, _K_V, _DT, _SUBSTEPS = 100.0, 20.0, 0.01, 10
#: The board, along both of its axes.
BOUNDS = (0.0, float(BOARD))
#: A pixel shows something where a channel differs by more than this from the empty board.
_CONTRAST = 40
#: Blue above red: of the agent, and the least that counts as it. The block's slate grey has 34, and a learned world
#: draws some of it up to 60.
_FULL_BLUE, _BLUENESS = 160.0, 70.0
#: How far an agent may be from where it is drawn, in units, and how much of its blue there may be, as a share of what
#: is drawn: small networks draw it paler, above all on the block.
_AGENT_OFF, _LEAST_BLUE, _MOST_BLUE = 10.0, 0.1, 2.0
#: An agent of fewer pixels is all but outside of the frame, and need not be found.
_HARDLY = 2.0


class Physics:
    """One gym-pusht whose agent and block are put anywhere, and which draws only when asked to.

    Args:
        size: height and width of its frames.
    """

    def __init__(self, size: int) -> None:
        reality = PushTReality(1, size)
        reality.reset(seed=[0])
        self._env = reality._envs[0]

    def place(self, agent: np.ndarray, pose: np.ndarray, velocity: np.ndarray | None = None) -> None:
        """Put the agent (2,) with a velocity and the block (4,) there; the block does not move by itself."""
        block, disc = self._env.block, self._env.agent
        block.angle = float(np.arctan2(pose[3], pose[2]))
        block.position = tuple(map(float, pose[:2]))
        block.velocity, block.angular_velocity = (0.0, 0.0), 0.0
        disc.position = tuple(map(float, agent))
        disc.velocity = (0.0, 0.0) if velocity is None else tuple(map(float, velocity))
        for body in (block, disc):
            self._env.space.reindex_shapes_for_body(body)

    def step(self, command: np.ndarray) -> None:
        """What gym-pusht does in a step, without its drawing and its measuring of coverage."""
        agent, target = self._env.agent, tuple(map(float, command))
        for _ in range(_SUBSTEPS):
            agent.velocity += (_K_P * (target - agent.position) - _K_V * agent.velocity) * _DT
            self._env.space.step(_DT)

    def draw(self) -> np.ndarray:
        """The frame (H, W, 3) uint8 of this moment."""
        return np.asarray(self._env.get_obs()["pixels"])

    @property
    def agent(self) -> np.ndarray:
        """(2,) where the agent is."""
        return np.array(self._env.agent.position)

    @property
    def pose(self) -> np.ndarray:
        """(4,) where the block is: x, y, cosine, sine."""
        (x, y), angle = self._env.block.position, self._env.block.angle
        return np.array([x, y, np.cos(angle), np.sin(angle)])


class Judge:
    """Compares what a world shows with what physics draws where the world says that things are."""

    def __init__(self, size: int) -> None:
        self._physics = Physics(size)
        nowhere = np.array([[-100.0, -100.0]]), np.array([[-200.0, -200.0, 1.0, 0.0]])
        self._empty = self.draw(*nowhere)[0].astype(int)

    def draw(self, agents: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """Frames (N, H, W, 3) uint8 of agents (N, 2) and blocks (N, 4)."""
        frames = []
        for agent, pose in zip(agents, poses, strict=True):
            self._physics.place(agent, pose)
            frames.append(self._physics.draw())
        return np.stack(frames)

    def overlaps(self, shown: np.ndarray, drawn: np.ndarray) -> np.ndarray:
        """(N,) intersection over union of the pixels of agent and T in frames (N, H, W, 3), shown and drawn."""
        seen, true = (np.abs(frames.astype(int) - self._empty).max(-1) > _CONTRAST for frames in (shown, drawn))
        overlaps: np.ndarray = (seen & true).sum((1, 2)) / np.maximum(1, (seen | true).sum((1, 2)))
        return overlaps


def agents_agree(shown: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """(N,) bool: whether frames show one agent at the same place, whatever is shown of the T."""
    (seen, amount), (true, right_amount) = see_agents(shown), see_agents(drawn)
    near = np.linalg.norm(seen - true, axis=1) < _AGENT_OFF
    alike = (amount > right_amount * _LEAST_BLUE) & (amount < right_amount * _MOST_BLUE)
    hidden = (right_amount < _HARDLY) & (amount < _HARDLY * _MOST_BLUE)
    agree: np.ndarray = (near & alike) | hidden
    return agree


def see_agents(frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where agents are in frames (N, H, W, 3) uint8: the middle (N, 2) of what is blue, in units, and how much it is.

    The amount (N,) is in pixels of full blue.
    """
    colours = frames.astype(np.float64)
    blue = np.clip(colours[..., 2] - colours[..., 0] - _BLUENESS, 0, None) / (_FULL_BLUE - _BLUENESS)
    places = (np.arange(frames.shape[1]) + 0.5) * BOARD / frames.shape[1]
    amount = blue.sum((1, 2))
    weight = np.maximum(amount, 1e-9)
    return np.stack([(blue.sum(1) @ places) / weight, (blue.sum(2) @ places) / weight], 1), amount


class Agents:
    """Where commands put N agents that nothing stops: gym-pusht's agent feels neither block nor wall."""

    def __init__(self, start: np.ndarray) -> None:
        self.position, self.velocity = start.astype(np.float64), np.zeros_like(start, np.float64)

    def step(self, commands: np.ndarray) -> None:
        """One frame of all; commands (N, 2)."""
        for _ in range(_SUBSTEPS):
            self.velocity += (_K_P * (commands - self.position) - _K_V * self.velocity) * _DT
            self.position += self.velocity * _DT


def speed_now(before: np.ndarray, now: np.ndarray, commands: np.ndarray) -> np.ndarray:
    """How fast agents are at the end of a frame, each array (N, 2), from where they were at both of its ends.

    The motion is linear in the speed at its beginning, which two trials therefore tell.
    """
    ends = []
    for speed in (0.0, 1.0):
        agents = Agents(before)
        agents.velocity += speed
        agents.step(commands)
        ends.append((agents.position, agents.velocity))
    (rest, rest_speed), (moved, moved_speed) = ends
    return rest_speed + (now - rest) / (moved - rest) * (moved_speed - rest_speed)


def within(poses: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    """(N,) bool: whether both coordinates of poses (N, 4) are within these bounds."""
    places = poses[:, :2]
    return np.all((places >= bounds[0]) & (places <= bounds[1]), axis=1)


def distance_between(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(N,) between the places of poses (N, 4), in their unit."""
    distance: np.ndarray = np.linalg.norm((one - other)[:, :2], axis=1)
    return distance


def angle_between(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """(N,) degrees between the directions of poses (N, 4)."""
    turned = np.arctan2(one[:, 3], one[:, 2]) - np.arctan2(other[:, 3], other[:, 2])
    return np.degrees(np.abs((turned + np.pi) % (2 * np.pi) - np.pi))
