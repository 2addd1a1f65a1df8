"""Contact sensors as parameters: ``contact_sensors.<name>.<setting>``."""
from collections.abc import Mapping
import dataclasses
from typing import Any

import numpy as np

from spr_dynamics.errors import name_hint
from spr_dynamics.ros import convert
from spr_dynamics.ros.parameters import (
    ParameterError, Parameters, sensor_parameter, SENSOR_PREFIX, SENSOR_TABLE, Value)
from spr_dynamics.sensors.contact import (
    ContactSensorSettings, declared_sensors, without_patch)
from spr_dynamics.sensors.settings import link_index, SensorError


class ContactSensorParameters:
    """The parameters of all contact sensors, declared in the SDF or by parameters alone."""

    def __init__(self, parameters: Parameters, model: Any) -> None:
        """
        Declare the parameters of each sensor.

        :param parameters: The node's parameters.
        :param model: The model, with the sensors that its SDF declares.
        :raises SprDynamicsError: If a setting is unknown or can't be used.
        """
        declared = declared_sensors(model)
        added = _sensors_added(parameters.overrides, declared)
        self.topics = convert.topics_from_names([*declared, *added])
        self._model = model
        self._owner: dict[str, tuple[str, str]] = {}
        self.settings: dict[str, ContactSensorSettings] = {}
        for name in self.topics:
            self.settings[name] = self._declare(parameters, name, declared)

    def changed(self, values: Mapping[str, Value],
                settings: Mapping[str, ContactSensorSettings]) -> dict[str, ContactSensorSettings]:
        """
        Return the new settings of those sensors that some values concern.

        :param values: Values by full parameter name.
        :param settings: The present settings of each sensor.
        :raises ParameterError: If the new settings of a sensor can't be used.
        """
        changes: dict[str, dict[str, Value]] = {}
        for parameter, value in values.items():
            if parameter in self._owner:
                name, setting = self._owner[parameter]
                changes.setdefault(name, {})[setting] = value
        return {name: self._validated(name, with_values(settings[name], change))
                for name, change in changes.items()}

    def values(self, sensors: Mapping[str, Any]) -> dict[str, Value]:
        """
        Return the values that parameters should have, by full name.

        :param sensors: The sensors of a simulation, by name.
        """
        return {sensor_parameter(topic, setting): value for name, topic in self.topics.items()
                for setting, value in parameter_values(sensors[name].settings).items()}

    def _declare(self, parameters: Parameters, name: str,
                 declared: Mapping[str, ContactSensorSettings]) -> ContactSensorSettings:
        topic = self.topics[name]
        given = [setting for setting in SENSOR_TABLE
                 if sensor_parameter(topic, setting) in parameters.overrides]
        base = declared.get(name, without_patch(given))
        defaults = parameter_values(base)
        link = sensor_parameter(topic, 'link')
        if name not in declared and 'link' not in given:
            raise ParameterError(f'{link} is missing: the SDF has no contact sensor '
                                 f'{name!r}{name_hint(name, declared)}, so the parameter has '
                                 'to name the link that carries it')
        values = {}
        for setting, spec in SENSOR_TABLE.items():
            parameter = sensor_parameter(topic, setting)
            values[setting] = parameters.declare(spec, name=parameter, default=defaults[setting])
            self._owner[parameter] = name, setting
        changed = {setting: value for setting, value in values.items()
                   if value != defaults[setting]}
        return self._validated(name, with_values(base, changed))

    def _validated(self, name: str, settings: ContactSensorSettings) -> ContactSensorSettings:
        try:
            link_index(self._model, settings.link)
            return settings.validated()
        except SensorError as error:  # its text begins with the name of the setting
            raise ParameterError(sensor_parameter(self.topics[name], str(error))) from None


def parameter_values(settings: ContactSensorSettings) -> dict[str, Value]:
    """
    Return a sensor's settings as values of parameters.

    :param settings: The settings.
    """
    values = {}
    for setting in SENSOR_TABLE:
        value = getattr(settings, setting)
        if setting == 'pose':
            value = convert.xyz_rpy_from_pose(value)
        values[setting] = list(value) if isinstance(value, tuple) else \
            np.asarray(value).tolist()
    return values


def with_values(settings: ContactSensorSettings, values: Mapping[str, Value]
                ) -> ContactSensorSettings:
    """
    Return settings with some of them replaced by values of parameters.

    A sensor that moves to another link feels all the collisions there: those that the file names
    belong to its first link.

    :param settings: The settings to start from.
    :param values: Values by the names of ``SENSOR_TABLE``.
    """
    changes: dict[str, Any] = {}
    for setting, value in values.items():
        if setting == 'pose':
            value = convert.pose_from_xyz_rpy(value)
        changes[setting] = value
    if changes.get('link', settings.link) != settings.link:
        changes['collisions'] = ()
    return dataclasses.replace(settings, **changes)


def _sensors_added(overrides: Mapping[str, Value], declared: Mapping[str, Any]) -> list[str]:
    """Return the sensors that parameters name and the SDF doesn't; refuse unknown settings."""
    known = {convert.parameter_from_name(name) for name in declared}
    added: dict[str, None] = {}
    for parameter in overrides:
        if not parameter.startswith(SENSOR_PREFIX + '.'):
            continue
        sensor, _, setting = parameter.removeprefix(SENSOR_PREFIX + '.').rpartition('.')
        if not sensor:
            raise ParameterError(f'{parameter}: expected {SENSOR_PREFIX}.<name>.<setting>')
        if setting not in SENSOR_TABLE:
            raise ParameterError(
                f'{parameter}: a contact sensor has no setting {setting!r}'
                f'{name_hint(setting, SENSOR_TABLE)}')
        if sensor not in known:
            added[sensor.replace('.', '::')] = None
    return list(added)
