"""A learned world's step, compiled: on a CPU ahead of time and kept for the next process, on a GPU as a CUDA graph."""

from __future__ import annotations

import hashlib
import platform
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ...storage.atomic import locked_folder, publish_folder, remove_folder
from ...storage.cache import make_cache
from ...storage.errors import ConfigError
from .engine import Engine

#: Changes with how this module compiles.
_FORMAT = 1
_OPTIONS = {
    # Loops in one thread, so that what is compiled suits every number of them; convolutions take as many as torch has.
    "cpp.threads": 1,
    # What the CPU says of itself is enough; to try each set of its instructions takes as long as to compile a part.
    "cpp.vec_isa_ok": True,
    # Each part is one source file: processes beside this one would only wait.
    "compile_threads": 1,
}

Call = Callable[..., list[Tensor]]


@dataclass(frozen=True)
class Part:
    """A method that compiled code takes the place of.

    Args:
        owner: whose method.
        method: its name.
        inputs: an example of what it is called with, by position; their shapes are part of the code.
    """

    owner: nn.Module
    method: str
    inputs: tuple[Tensor, ...]

    @property
    def file(self) -> str:
        """Name of the file that keeps it."""
        return f"{type(self.owner).__name__}-{self.method}-{self.inputs[0].shape[-1]}.pt2"


def compile_for_cpu(engine: Engine, checkpoint_hash: str) -> None:
    """Put compiled code in place of the parts of a step, for one episode at a time.

    Once for each checkpoint this takes a minute and a C++ compiler; then it is read from the folder `compiled` in the
    cache. Of processes that want the same at once one compiles and the others wait.

    Args:
        engine: of one episode.
        checkpoint_hash: which weights it has, since they are part of the code.

    Raises:
        ConfigError: there is no compiler, or it fails.
        StoreError: the cache cannot be written.
    """
    parts, cache = hot_parts(engine), make_cache("compiled")
    with locked_folder(cache):
        calls = _compiled(parts, cache / _key(checkpoint_hash))
    for part, call in zip(parts, calls, strict=True):
        setattr(part.owner, part.method, call)


def compile_for_cuda(networks: Sequence[nn.Module]) -> None:
    """Let torch compile these networks at their first use and record each as a CUDA graph; once in every process."""
    for network in networks:
        network.forward = torch.compile(network.forward, mode="reduce-overhead", fullgraph=True, dynamic=False)


def hot_parts(engine: Engine) -> list[Part]:
    """What every step of one episode calls."""
    model, config = engine.model, engine.model.config
    size, num_actions = len(model.vector_centre), model.spec.action.size
    ages = task = torch.zeros(1, dtype=torch.int64)
    doubt, noise, frame_noise = (torch.zeros(shape) for shape in (1, model.noise_shape(1), model.frame_noise_shape(1)))
    latents = torch.zeros(1, config.num_latents, *noise.shape[2:])
    vectors, vector = torch.zeros(1, config.history, size), torch.zeros(1, size)
    actions, action = torch.zeros(1, config.history, num_actions), torch.zeros(1, num_actions)
    return [
        Part(engine, "guess", (vectors, actions, action, ages)),
        Part(engine, "move", (latents, vectors, doubt, doubt, actions, vector, doubt, task, noise)),
        Part(engine, "show", (latents, vectors, doubt, doubt, task, frame_noise)),
    ]


def _compiled(parts: Sequence[Part], folder: Path) -> list[Call]:
    """From the folder; what is missing there or damaged is compiled."""
    if folder.is_dir():
        try:
            return _load(parts, folder)
        except RuntimeError:
            remove_folder(folder)
    _build(parts, folder)
    return _load(parts, folder)


def _key(checkpoint_hash: str) -> str:
    """Another one for other weights, another version of this code or of torch, and another CPU."""
    digest = hashlib.sha256()
    for fact in (_FORMAT, checkpoint_hash, torch.__version__, platform.machine(), _cpu_features()):
        digest.update(f"{fact}\0".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:32]


def _cpu_features() -> str:
    """The instructions that compiled code may use; where no file lists them, what torch says."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    return next((line for line in lines if line.startswith(("flags", "Features"))), _torch_capability())


def _torch_capability() -> str:
    return torch.backends.cpu.get_cpu_capability()


def _build(parts: Sequence[Part], folder: Path) -> None:
    from torch._inductor import config
    from torch._inductor.cpp_builder import get_cpp_compiler
    from torch._inductor.exc import InvalidCxxCompiler
    from torch._inductor.utils import fresh_inductor_cache

    try:
        get_cpp_compiler()
        with publish_folder(folder) as pending, fresh_inductor_cache(), config.patch(_OPTIONS):
            for part in parts:
                _build_part(part, pending)
    except InvalidCxxCompiler as error:
        raise ConfigError(
            "compile_model needs a C++ compiler, and none works here; install g++, name another one in the variable "
            "CXX, or leave compile_model out"
        ) from error
    except (RuntimeError, OSError) as error:
        reason = next(iter(str(error).strip().splitlines()), "no reason given")
        raise ConfigError(
            f"the world cannot be compiled ({type(error).__name__}: {reason}); leave compile_model out"
        ) from error


def _build_part(part: Part, folder: Path) -> None:
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of its own calls
        # Each a tensor of its own: two inputs that are one in the example would be taken for one for ever.
        exported = torch.export.export(_Method(part).eval(), tuple(one.clone() for one in part.inputs))
        torch._inductor.aoti_compile_and_package(exported, package_path=str(folder / part.file))


class _Method(nn.Module):
    """A method as a module, which is what can be exported."""

    def __init__(self, part: Part) -> None:
        super().__init__()
        self.owner, self._method = part.owner, part.method

    def forward(self, *inputs: Tensor) -> Any:
        return getattr(self.owner, self._method)(*inputs)


def _load(parts: Sequence[Part], folder: Path) -> list[Call]:
    """RuntimeError where a file is missing or damaged."""
    # The core of `aoti_load_package`, which around it asks the compiler which instructions there are, for seconds in
    # every process, and parses at each call how inputs are nested, in a tenth of a millisecond: they are not.
    from torch._C._aoti import AOTIModelPackageLoader

    loaders = [AOTIModelPackageLoader(str(folder / part.file), "model", False, 1, -1) for part in parts]
    return [_contiguous(loader.boxed_run) for loader in loaders]


def _contiguous(run: Callable[[list[Tensor]], list[Tensor]]) -> Call:
    """Compiled code takes it for granted that inputs lie in memory as in the example."""

    def call(*inputs: Tensor) -> list[Tensor]:
        return run([one.contiguous() for one in inputs])

    return call
