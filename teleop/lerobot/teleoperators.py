"""LeRobot's teleoperators, found by type, set up and connected; what goes wrong becomes one sentence."""

from __future__ import annotations

import difflib
import inspect
import logging
import pkgutil
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...storage.errors import ConfigError, DeviceError, PluginError

if TYPE_CHECKING:
    from lerobot.teleoperators import Teleoperator, TeleoperatorConfig

logger = logging.getLogger(__name__)


def connect_teleoperator(type: str, settings: Mapping[str, Any]) -> Teleoperator:
    """A connected and calibrated teleoperator.

    Args:
        type: as LeRobot knows it, such as `so101_leader`.
        settings: of its LeRobot config, such as `port` and `id`; one that is a config itself is given as a mapping.

    Raises:
        PluginError: there is no such type.
        ConfigError: a setting is missing or cannot be used.
        DeviceError: it cannot be opened, lacks a package, or was never calibrated.
    """
    from lerobot.teleoperators import make_teleoperator_from_config

    config = configured(type, settings)
    try:
        teleoperator = make_teleoperator_from_config(config)
        _connect(teleoperator)
    except ImportError as error:
        raise DeviceError(f"the teleoperator {type} needs a package that is missing: {one_line(error)}") from error
    # Drivers raise whatever their libraries do, from OSError to AttributeError.
    except Exception as error:
        raise DeviceError(
            f"cannot connect the teleoperator {type} ({one_line(error)}); check its settings {dict(settings)}, that it "
            "is plugged in, and that no other program uses it"
        ) from error
    if not _is_calibrated(teleoperator):
        teleoperator.disconnect()
        raise DeviceError(
            f"the teleoperator {type} with id {config.id!r} is not calibrated; run lerobot-calibrate"
            f" --teleop.type={type}{''.join(f' --teleop.{name}={value}' for name, value in settings.items())}"
        )
    return teleoperator


def configured(type: str, settings: Mapping[str, Any]) -> TeleoperatorConfig:
    """The LeRobot config of a type with these settings; raises PluginError or ConfigError as above."""
    import draccus
    from draccus.utils import DecodingError, ParsingError
    from lerobot.teleoperators import TeleoperatorConfig

    missing = import_types()
    known = sorted(TeleoperatorConfig.get_known_choices())
    if type not in known:
        near = difflib.get_close_matches(type, known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
        lacking = f" (could not be imported: {', '.join(missing)})" if missing else ""
        raise PluginError(f"LeRobot has no teleoperator of type {type!r}; {hint}{lacking}")
    try:
        return draccus.decode(TeleoperatorConfig.get_choice_class(type), dict(settings))
    except (DecodingError, ParsingError, TypeError, ValueError) as error:
        raise ConfigError(f"a {type} teleoperator cannot be set up with {dict(settings)}: {one_line(error)}") from error


def import_types() -> list[str]:
    """Register LeRobot's own teleoperators and those of installed plug-ins; the names of modules that failed.

    A plug-in is a distribution called `lerobot_teleoperator_…`, which LeRobot finds by that name.
    """
    import lerobot.teleoperators
    from lerobot.utils.import_utils import register_third_party_plugins

    failed = []
    for module in pkgutil.iter_modules(lerobot.teleoperators.__path__):
        try:
            import_module(f"lerobot.teleoperators.{module.name}")
        except ImportError as error:
            logger.debug("LeRobot's teleoperator %s cannot be imported: %s", module.name, error)
            failed.append(module.name)
    register_third_party_plugins()
    return failed


def one_line(error: BaseException) -> str:
    """What an error says, without line breaks; its class where it says nothing."""
    return " ".join(str(error).split()) or type(error).__name__


def _connect(teleoperator: Teleoperator) -> None:
    # Asked to calibrate, a leader arm would wait for a person at a terminal that may not be there.
    if "calibrate" in inspect.signature(teleoperator.connect).parameters:
        teleoperator.connect(calibrate=False)
    else:
        teleoperator.connect()


def _is_calibrated(teleoperator: Teleoperator) -> bool:
    # LeRobot 0.6.1 has it as a property of some teleoperators and as a method of others.
    found = teleoperator.is_calibrated
    return bool(found() if callable(found) else found)
