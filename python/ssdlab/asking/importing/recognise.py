"""Recognises a file by its content, and reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from ssdlab.asking.importing import femu, mqsim, mqsim_flows, nvmevirt, simplessd, simplessd_sim
from ssdlab.asking.importing.ledger import Imported
from ssdlab.asking.importing.source import Source, load
from ssdlab.errors import UsageError

__all__ = ["read"]

KNOWN = (
    "MQSim's ssdconfig.xml and workload.xml, a run script or command line of FEMU (-device femu), "
    "NVMeVirt's ssd_config.h, SimpleSSD's .cfg or .xml"
)
_FLOWS = re.compile(r"<MQSim_IO_Scenarios|<IO_Flow_Parameter_Set_")
_DEVICE = re.compile(r"<Execution_Parameter_Set|<Device_Parameter_Set")
_RESULTS = re.compile(r"<MQSim_Results")
_FEMU = re.compile(r"-device[\s=]+femu\b|\bfemu_mode=")
_NVMEVIRT = re.compile(r"^\s*#\s*define\s+(?:NAND_CHANNELS|LUNS_PER_NAND_CH|NS_SSD_TYPE_0)\b", re.MULTILINE)
_SIMPLESSD = re.compile(r"^\s*\[\s*(\w+)\s*\]", re.MULTILINE)


def read(files: Sequence[Path], *, profile: str | None = None, capacity: int | None = None) -> list[Imported]:
    """Reads configurations of other simulators. Files of one simulator that belong together are given together.

    Args:
        files: the files.
        profile: for NVMeVirt, the drive of the header to import.
        capacity: for NVMeVirt, the size of the memory, bytes.

    Raises:
        FileError: a file cannot be read.
        UsageError: a file is of no known form, or a value in it cannot be read.
    """
    sources = [load(file) for file in files]
    flows = mqsim_flows.flows_of(source for source in sources if _FLOWS.search(source.text))
    found: dict[int, Imported] = {}
    sizes: dict[str, int] = {}
    for index in sorted(range(len(sources)), key=lambda index: bool(_FLOWS.search(sources[index].text))):  # drives before their flows
        found[index] = _reader(sources[index], flows, sizes, profile, capacity)(sources[index])
        sizes.update({key: value for preset in found[index].presets if preset.kind == "device" for key, value in preset.settings.items()})
    return [found[index] for index in range(len(sources))]


def _reader(
    source: Source, flows: mqsim.Flows, sizes: Mapping[str, int], profile: str | None, capacity: int | None
) -> Callable[[Source], Imported]:
    text = source.text
    if _RESULTS.search(text):
        raise UsageError(f"{source.name}: results of MQSim: expected {KNOWN}")
    sections = {name.lower() for name in _SIMPLESSD.findall(text)}
    forms: tuple[tuple[object, Callable[[Source], Imported]], ...] = (
        (_FLOWS.search(text), partial(mqsim_flows.read_workloads, sizes=sizes)),
        (_DEVICE.search(text), partial(mqsim.read_device, flows=flows)),
        ("<simplessd" in text, simplessd.read_xml_drive),
        (_NVMEVIRT.search(text), partial(nvmevirt.read_device, profile=profile, capacity=capacity)),
        (_FEMU.search(text), femu.read_device),
        ("pal" in sections, simplessd.read_drive),
        ("ssd" in sections and "NumChannel" in text, simplessd.read_old_drive),
        ({"generator", "global"} <= sections, simplessd_sim.read_workload),
    )
    found = next((reader for is_it, reader in forms if is_it), None)
    if found is None:
        raise UsageError(f"{source.name}: not a configuration that can be imported: expected {KNOWN}")
    return found
