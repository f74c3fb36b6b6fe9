"""A workload of the user's own becomes a trace: the block requests that reach a device while a command runs.

Linux only: the kernel's own block events are read, through an instance of tracefs that nobody else uses. The parts: `lines` reads one
line of the kernel's, `devices` and `tracefs` find what is needed or say what is missing, `recorder` runs the command, `recording` is what
came of it, and writes it.
"""

from __future__ import annotations

from ssdlab.recording.devices import Device, find_device
from ssdlab.recording.recorder import Recorder, check_command, check_system
from ssdlab.recording.recording import Recording, check_target
from ssdlab.recording.tracefs import Tracefs, find_tracefs

__all__ = [
    "Device",
    "Recorder",
    "Recording",
    "Tracefs",
    "check_command",
    "check_system",
    "check_target",
    "find_device",
    "find_tracefs",
]
