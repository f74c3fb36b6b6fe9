"""The drive and the flows that MQSim's own ssdconfig.xml and workload.xml (at 7ec40e3) describe, written anew: the same values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

__all__ = ["write"]

DEVICE = {
    "Enabled_Preconditioning": "false",
    "HostInterface_Type": "NVME",
    "Queue_Fetch_Size": 512,
    "Data_Cache_Capacity": 268_435_456,
    "Data_Cache_DRAM_Row_Size": 8192,
    "Data_Cache_DRAM_Data_Rate": 100,
    "Data_Cache_DRAM_Data_Busrt_Size": 1,
    "CMT_Capacity": 2_097_152,
    "CMT_Sharing_Mode": "SHARED",
    "Plane_Allocation_Scheme": "CWDP",
    "Transaction_Scheduling_Policy": "PRIORITY_OUT_OF_ORDER",
    "Overprovisioning_Ratio": 0.07,
    "GC_Exec_Threshold": 0.05,
    "GC_Block_Selection_Policy": "RGA",
    "Preemptible_GC_Enabled": "false",
    "Flash_Channel_Count": 8,
    "Channel_Transfer_Rate": 333,
    "Chip_No_Per_Channel": 4,
    "Flash_Comm_Protocol": "NVDDR2",
}
FLASH = {
    "Flash_Technology": "MLC",
    "CMD_Suspension_Support": "ERASE",
    "Page_Read_Latency_LSB": 75_000,
    "Page_Read_Latency_MSB": 75_000,
    "Page_Program_Latency_LSB": 750_000,
    "Page_Program_Latency_MSB": 750_000,
    "Block_Erase_Latency": 3_800_000,
    "Suspend_Erase_Time": 700_000,
    "Die_No_Per_Chip": 2,
    "Plane_No_Per_Die": 2,
    "Block_No_Per_Plane": 2048,
    "Page_No_Per_Block": 256,
    "Page_Capacity": 8192,
}
FLOW = {
    "Device_Level_Data_Caching_Mode": "WRITE_CACHE",
    "Channel_IDs": "0,1,2,3,4,5,6,7",
    "Chip_IDs": "0,1,2,3",
    "Die_IDs": "0,1",
    "Plane_IDs": "0,1",
    "Working_Set_Percentage": 50,
    "Synthetic_Generator_Type": "QUEUE_DEPTH",
    "Address_Distribution": "RANDOM_UNIFORM",
    "Generated_Aligned_Addresses": "true",
    "Address_Alignment_Unit": 16,
    "Request_Size_Distribution": "FIXED",
    "Average_Request_Size": 8,
}
SCENARIOS = ((0, (16, 2)), (100, (16, 16)))
"""Percent of reads, and the requests that each flow has outstanding."""


def element(name: str, *content: str, **values: object) -> str:
    return f"<{name}>{''.join(element(key, str(value)) for key, value in values.items())}{''.join(content)}</{name}>\n"


def flow(reads: int, depth: int) -> str:
    values: Mapping[str, object] = {**FLOW, "Read_Percentage": reads, "Average_No_of_Reqs_in_Queue": depth}
    return element("IO_Flow_Parameter_Set_Synthetic", **values)


def write(folder: Path, *, ideal: bool) -> list[Path]:
    """Writes both files. `ideal`: the whole mapping table is in memory."""
    device = {**DEVICE, "Ideal_Mapping_Table": str(ideal).lower()}
    host = element("Host_Parameter_Set", PCIe_Lane_Bandwidth=1.0, PCIe_Lane_Count=4)
    drive = element("Device_Parameter_Set", element("Flash_Parameter_Set", **FLASH), **device)
    scenarios = (element("IO_Scenario", *(flow(reads, depth) for depth in depths)) for reads, depths in SCENARIOS)
    files = {
        "ssdconfig.xml": element("Execution_Parameter_Set", host, drive),
        "workload.xml": element("MQSim_IO_Scenarios", *scenarios),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    return [folder / name for name in files]
