"""Records a workload as a trace: the block requests that reach a device while a command runs.

Linux only: it reads the kernel's block events through a tracefs instance of its own. Modules: `lines` parses the kernel's lines, `devices`
and `tracefs` find device and tracefs or report what is missing, `recorder` runs the command, and `recording` collects and writes the trace.
"""

from __future__ import annotations

from ssdlab.system.recording.devices import Device, find_device
from ssdlab.system.recording.recorder import Recorder, check_command, check_system
from ssdlab.system.recording.recording import Recording, check_target
from ssdlab.system.recording.tracefs import Tracefs, find_tracefs

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
