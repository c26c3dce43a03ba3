"""The next latent from the last ones, the actions, and what the next frame is about."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .config import WorldConfig
from .consistency import NoisyChange
from .crops import Crops
from .layers import Halve, Linear, PerCell, ResBlock, coordinates, linear
from .vector_dynamics import second_order, second_order_size

_CONDITION = 128
_MOST_FRAMES = 16
#: At this scale a tenth of the image is about one unit.
_ZOOM = 5.0
_MAP_CHANNELS = 48
_FAR = 8.0
#: Cells whose gate stays below this are copied exactly, so that what nothing touches cannot creep.
_CLOSED = 0.15


class LearnedFrames(nn.Module):
    """Maps of where each cell lies in frames of reference that follow from a vector.

    Each frame is an affine map of the image whose six numbers are sums of the vector's numbers and their products:
    enough for a frame that moves and turns with a body whose place, cosine and sine stand in the vector. A small
    MLP then says what each cell looks like from there.

    Args:
        size: numbers in the vector.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        pairs = max(1, size // 2)
        self._num_frames = min(_MOST_FRAMES, pairs * pairs)
        self.affine = Linear(second_order_size(size), 6 * self._num_frames)
        self.cells = nn.Sequential(
            PerCell(6 * self._num_frames, 64), nn.SiLU(), PerCell(64, 64), nn.SiLU(), PerCell(64, _MAP_CHANNELS)
        )
        if size > 1:
            self._begin_at_pairs(size)

    @torch.no_grad()
    def _begin_at_pairs(self, size: int) -> None:
        """Begin with frames centred on each pair of numbers as a place, unturned and turned by each other pair.

        A frame centred on (x, y) and turned by (c, s) sees a cell at (px, py) at c (px - x) + s (py - y) and
        c (py - y) - s (px - x); unturned is c = 1, s = 0.
        """
        place = {tuple(pair): i for i, pair in enumerate(torch.triu_indices(size, size).T.tolist())}
        weight = self.affine.weight.zero_().view(self._num_frames, 2, 3, -1)
        bias = self.affine.bias.zero_().view(self._num_frames, 2, 3)
        pairs = [(2 * i, 2 * i + 1) for i in range(size // 2)]
        combinations = sorted(itertools.product(pairs, pairs), key=lambda both: both[0] != both[1])
        for frame, ((x, y), (c, s)) in enumerate(combinations[: self._num_frames]):
            if x == c:
                bias[frame, 0, 0] = bias[frame, 1, 1] = _ZOOM
                weight[frame, 0, 2, x] = weight[frame, 1, 2, y] = -_ZOOM
                continue
            weight[frame, 0, 0, c] = weight[frame, 0, 1, s] = weight[frame, 1, 1, c] = _ZOOM
            weight[frame, 1, 0, s] = -_ZOOM
            for axis, terms in enumerate((((c, x, -1), (s, y, -1)), ((c, y, -1), (s, x, 1)))):
                for first, second, sign in terms:
                    product = size + place[min(first, second), max(first, second)]
                    weight[frame, axis, 2, product] = sign * _ZOOM

    def forward(self, vector: Tensor, grid: Tensor) -> Tensor:
        """(B, D) and the cells' places (1 or B, 2, H, W) -> (B, channels, H, W)."""
        affine = self.affine(second_order(vector)).view(-1, 2 * self._num_frames, 3)
        cells = grid.flatten(2).transpose(1, 2).expand(len(vector), -1, -1)
        places = torch.baddbmm(affine[:, None, :, 2], cells, affine[..., :2].transpose(1, 2))
        # Farther away the exponential is next to nothing, and numbers below 1e-38 are slow to multiply.
        distance = (places[..., ::2].square() + places[..., 1::2].square()).clamp_max(_FAR)
        seen = [places.clamp(-4, 4), torch.tanh(places), torch.exp(-distance), torch.exp(-10 * distance)]
        maps: Tensor = self.cells(torch.cat(seen, 2))
        return maps.transpose(1, 2).unflatten(2, grid.shape[2:])


class Dynamics(nn.Module):
    """A small U-Net that predicts the change of the latent, see docs/world-model.md.

    The actions and the next vector enter through FiLM and as maps. A learned map tells the network where it is in
    the image, and so what always stands there. The noise level of the history is an input (GameNGen, arXiv
    2408.14837): a history known to be noisy is pulled back to what frames look like; at level 1 it is hidden.

    Args:
        config: sizes, and what it sees.
        height, width: of the latents.
        vector_size, action_size: numbers in a vector and in an action.
        num_tasks: of several, the task is an input; one needs none.
    """

    grid: Tensor
    _film_weight: Tensor
    _film_bias: Tensor

    def __init__(
        self, config: WorldConfig, height: int, width: int, vector_size: int, action_size: int, num_tasks: int = 1
    ) -> None:
        super().__init__()
        channels, features, sampled = config.latent_channels, config.dynamics_width, config.prediction == "consistency"
        self.register_buffer("grid", coordinates(height, width), persistent=False)
        inputs = vector_size + config.history * action_size + sampled
        self.condition = nn.Sequential(
            Linear(inputs + 1, _CONDITION), nn.SiLU(), Linear(_CONDITION, _CONDITION), nn.SiLU()
        )
        self.frames = LearnedFrames(vector_size + action_size)
        self.stem = nn.Conv2d(config.num_latents * channels + _MAP_CHANNELS, features, 3, padding=1)
        self.place = nn.Parameter(0.02 * torch.randn(features, height, width))
        self.before = ResBlock(features, _CONDITION)
        self.down = Halve(features, 2 * features)
        self.middle = nn.ModuleList(ResBlock(2 * features, _CONDITION) for _ in range(config.num_dynamics_blocks))
        self.up = nn.Conv2d(2 * features, 4 * features, 1)
        self.after = ResBlock(features, _CONDITION)
        self.head = nn.Conv2d(features, channels + 1, 3, padding=1)
        nn.init.zeros_(self.head.weight)
        self.noisy = nn.Conv2d(channels, features, 3, padding=1, bias=False) if sampled else None
        self.task = nn.Embedding(num_tasks, _CONDITION) if num_tasks > 1 else None
        for name in ("_film_weight", "_film_bias"):
            self.register_buffer(name, None, persistent=False)
        self._settled = False

    def forward(
        self, history: Tensor | None, vector: Tensor, actions: Tensor, noise: Tensor, crops: Crops | None = None,
        task: Tensor | None = None, noisy: NoisyChange | None = None,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """Predict one step.

        Args:
            history: (B, num_latents, C, H, W) latents, the present one last and an anchor first; None where hidden.
            vector: (B, D) state and labels of the next frame.
            actions: (B, history, A) in [-1, 1]; the last is commanded now, the others led to the latents before.
            noise: (B,) standard deviation of the noise on the history.
            crops: where the history is windows of the whole, in training, which ones.
            task: (B,) int64, number of the task; needed where there are several.
            noisy: the change under noise, which a consistency model needs and a regression does without.

        Returns:
            The change of the latent (B, C, H, W) and the gate's logits (B, 1, H, W), both float32.
        """
        known = [vector, actions.flatten(1), noise[:, None]]
        if noisy is not None:
            change, level = noisy.scaled()
            known.append(level)
        grid, place = (maps[None] if crops is None else crops.of_maps(maps) for maps in (self.grid, self.place))
        # In bfloat16 a place would be known to two pixels only.
        with torch.autocast(vector.device.type, enabled=False):
            before, *middle, after = self._films(torch.cat(known, 1), task)
            maps = self.frames(torch.cat([vector, actions[:, -1]], 1), grid)
        x = self._see(history, maps) + place
        if self.noisy is not None:
            x = x + self.noisy(change)
        fine = self.before(x, before)
        x = self.down(fine)
        for block, film in zip(self.middle, middle, strict=True):
            x = block(x, film)
        x = self.after(fine + F.pixel_shuffle(self.up(x), 2), after)
        out = self.head(F.silu(x)).float()
        delta = out[:, :-1] if noisy is None else noisy.resolve(out[:, :-1])
        return delta, out[:, -1:] + 1

    def _films(self, known: Tensor, task: Tensor | None) -> list[Tensor]:
        """How what is known (B, inputs) scales and shifts the channels of each block, by one product for all."""
        condition = self.condition(known)
        if self.task is not None:
            condition = condition + self.task(task)
        weight, bias = (self._film_weight, self._film_bias) if self._settled else self._join_films()
        sizes = [layer.out_features for layer in self._film_layers()]
        return list(linear(condition, weight, bias).split(sizes, 1))

    def _join_films(self) -> tuple[Tensor, Tensor]:
        layers = self._film_layers()
        return torch.cat([layer.weight for layer in layers]), torch.cat([layer.bias for layer in layers])

    def _film_layers(self) -> list[Linear]:
        return [block.film for block in (self.before, *self.middle, self.after)]

    def settle(self) -> None:
        """Keep what follows from the weights, which are not to change any more."""
        self._film_weight, self._film_bias = self._join_films()
        self._settled = True

    def _see(self, history: Tensor | None, maps: Tensor) -> Tensor:
        """The first convolution. A hidden history is as one of zeros, of which nothing comes."""
        if history is None:
            return F.conv2d(maps, self.stem.weight[:, -_MAP_CHANNELS:], self.stem.bias, padding=1)
        seen: Tensor = self.stem(torch.cat([history.flatten(1, 2), maps], 1))
        return seen


def follow(history: Tensor, latent: Tensor, anchored: bool) -> Tensor:
    """The history (B, num_latents, C, H, W) one step later, when `latent` (B, C, H, W) is present; an anchor stays."""
    return torch.cat([history[:, :anchored], history[:, 1 + anchored :], latent[:, None]], 1)


def advance(latent: Tensor, delta: Tensor, gate_logits: Tensor, exact: bool = True) -> Tensor:
    """The next latent: the present one changed where the gate is open, and copied exactly where it is closed.

    Args:
        exact: copy exactly where the gate is all but closed; false in training, where gradients must pass.
    """
    gate = torch.sigmoid(gate_logits)
    if exact:
        gate = torch.where(gate < _CLOSED, 0.0, gate)
    return (latent + gate * delta).clamp(-1, 1)
