"""Small configurations in the forms of other simulators, written for the tests."""

from __future__ import annotations

MQSIM_DEVICE = """<?xml version="1.0" encoding="us-ascii"?>
<Execution_Parameter_Set>
  <Host_Parameter_Set>
    <PCIe_Lane_Bandwidth>0.5</PCIe_Lane_Bandwidth>
    <PCIe_Lane_Count>4</PCIe_Lane_Count>
    <Enable_ResponseTime_Logging>false</Enable_ResponseTime_Logging>
  </Host_Parameter_Set>
  <Device_Parameter_Set>
    <Seed>7</Seed>
    <Enabled_Preconditioning>false</Enabled_Preconditioning>
    <HostInterface_Type>NVME</HostInterface_Type>
    <Queue_Fetch_Size>32</Queue_Fetch_Size>
    <Data_Cache_Capacity>1048576</Data_Cache_Capacity>
    <Data_Cache_DRAM_Row_Size>8192</Data_Cache_DRAM_Row_Size>
    <Data_Cache_DRAM_Data_Rate>800</Data_Cache_DRAM_Data_Rate>
    <Data_Cache_DRAM_Data_Busrt_Size>4</Data_Cache_DRAM_Data_Busrt_Size>
    <Data_Cache_DRAM_tRCD>13</Data_Cache_DRAM_tRCD>
    <Data_Cache_DRAM_tCL>13</Data_Cache_DRAM_tCL>
    <Data_Cache_DRAM_tRP>13</Data_Cache_DRAM_tRP>
    <Address_Mapping>PAGE_LEVEL</Address_Mapping>
    <Ideal_Mapping_Table>false</Ideal_Mapping_Table>
    <CMT_Capacity>65536</CMT_Capacity>
    <Plane_Allocation_Scheme>CDWP</Plane_Allocation_Scheme>
    <Transaction_Scheduling_Policy>OUT_OF_ORDER</Transaction_Scheduling_Policy>
    <Overprovisioning_Ratio>0.2</Overprovisioning_Ratio>
    <GC_Exec_Threshold>0.05</GC_Exec_Threshold>
    <GC_Block_Selection_Policy>RGA</GC_Block_Selection_Policy>
    <Preemptible_GC_Enabled>true</Preemptible_GC_Enabled>
    <GC_Hard_Threshold>0.01</GC_Hard_Threshold>
    <Flash_Channel_Count>2</Flash_Channel_Count>
    <Flash_Channel_Width>1</Flash_Channel_Width>
    <Channel_Transfer_Rate>333</Channel_Transfer_Rate>
    <Chip_No_Per_Channel>2</Chip_No_Per_Channel>
    <Flash_Comm_Protocol>NVDDR2</Flash_Comm_Protocol>
    <Flash_Parameter_Set>
      <Flash_Technology>MLC</Flash_Technology>
      <CMD_Suspension_Support>PROGRAM_ERASE</CMD_Suspension_Support>
      <Page_Read_Latency_LSB>60000</Page_Read_Latency_LSB>
      <Page_Read_Latency_CSB>70000</Page_Read_Latency_CSB>
      <Page_Read_Latency_MSB>80000</Page_Read_Latency_MSB>
      <Page_Program_Latency_LSB>500000</Page_Program_Latency_LSB>
      <Page_Program_Latency_MSB>500000</Page_Program_Latency_MSB>
      <Block_Erase_Latency>3000000</Block_Erase_Latency>
      <Suspend_Erase_Time>50000</Suspend_Erase_Time>
      <Suspend_Program_Time>20000</Suspend_Program_Time>
      <Die_No_Per_Chip>1</Die_No_Per_Chip>
      <Plane_No_Per_Die>2</Plane_No_Per_Die>
      <Block_No_Per_Plane>128</Block_No_Per_Plane>
      <Page_No_Per_Block>64</Page_No_Per_Block>
      <Page_Capacity>8192</Page_Capacity>
      <Page_Metadat_Capacity>448</Page_Metadat_Capacity>
      <Own_Key>12</Own_Key>
    </Flash_Parameter_Set>
  </Device_Parameter_Set>
</Execution_Parameter_Set>
"""
MQSIM_FLOWS = """<?xml version="1.0" encoding="us-ascii"?>
<MQSim_IO_Scenarios>
  <IO_Scenario>
    <IO_Flow_Parameter_Set_Synthetic>
      <Priority_Class>HIGH</Priority_Class>
      <Device_Level_Data_Caching_Mode>TURNED_OFF</Device_Level_Data_Caching_Mode>
      <Channel_IDs>0,1</Channel_IDs>
      <Chip_IDs>0</Chip_IDs>
      <Working_Set_Percentage>50</Working_Set_Percentage>
      <Synthetic_Generator_Type>QUEUE_DEPTH</Synthetic_Generator_Type>
      <Read_Percentage>70</Read_Percentage>
      <Address_Distribution>HOTCOLD_RANDOM</Address_Distribution>
      <Percentage_of_Hot_Region>20</Percentage_of_Hot_Region>
      <Generated_Aligned_Addresses>true</Generated_Aligned_Addresses>
      <Address_Alignment_Unit>16</Address_Alignment_Unit>
      <Request_Size_Distribution>NORMAL</Request_Size_Distribution>
      <Average_Request_Size>8</Average_Request_Size>
      <Variance_Request_Size>2</Variance_Request_Size>
      <Average_No_of_Reqs_in_Queue>4</Average_No_of_Reqs_in_Queue>
      <Stop_Time>1000000000</Stop_Time>
    </IO_Flow_Parameter_Set_Synthetic>
    <IO_Flow_Parameter_Set_Synthetic>
      <Priority_Class>LOW</Priority_Class>
      <Device_Level_Data_Caching_Mode>TURNED_OFF</Device_Level_Data_Caching_Mode>
      <Synthetic_Generator_Type>BANDWIDTH</Synthetic_Generator_Type>
      <Bandwidth>4096000</Bandwidth>
      <Read_Percentage>0</Read_Percentage>
      <Address_Distribution>STREAMING</Address_Distribution>
      <Request_Size_Distribution>FIXED</Request_Size_Distribution>
      <Average_Request_Size>8</Average_Request_Size>
    </IO_Flow_Parameter_Set_Synthetic>
  </IO_Scenario>
  <IO_Scenario>
    <IO_Flow_Parameter_Set_Trace_Based>
      <File_Path>traces\\small.trace</File_Path>
      <Percentage_To_Be_Executed>100</Percentage_To_Be_Executed>
      <Relay_Count>3</Relay_Count>
      <Time_Unit>PICOSECOND</Time_Unit>
    </IO_Flow_Parameter_Set_Trace_Based>
  </IO_Scenario>
</MQSim_IO_Scenarios>
"""
FEMU = """#!/bin/bash
# a script in the form of FEMU's
secsz=512 # bytes
secs_per_pg=8
pgs_per_blk=64
blks_per_pl=${BLOCKS:-256}
ssd_size=192 # MiB

OPTIONS="-device femu"
OPTIONS=${OPTIONS}",devsz_mb=${ssd_size}"
OPTIONS=${OPTIONS}",femu_mode=1"
OPTIONS=${OPTIONS}",secsz=${secsz}"
OPTIONS=${OPTIONS}",secs_per_pg=${secs_per_pg}"
OPTIONS=${OPTIONS}",pgs_per_blk=${pgs_per_blk}"
OPTIONS=${OPTIONS}",blks_per_pl=${blks_per_pl}"
OPTIONS+=",pls_per_lun=1,luns_per_ch=2,nchs=2"
OPTIONS=${OPTIONS}",pg_rd_lat=40000,pg_wr_lat=200000,blk_er_lat=2000000,ch_xfer_lat=0"
OPTIONS=${OPTIONS}",gc_thres_pcent=90,gc_thres_pcent_high=95,queues=8,own_key=3"
#OPTIONS=${OPTIONS}",nchs=64"

sudo ./qemu-system-x86_64 \\
    -device virtio-scsi-pci,id=scsi0 \\
    ${OPTIONS} \\
    -nographic
"""
NVMEVIRT = """#ifndef _CONFIG_H
#define _CONFIG_H
#define FIRST 0
#define SECOND 1
#define SSD_TYPE_CONV 1
#define SSD_TYPE_ZNS 2
#define CELL_MODE_MLC 2 /* two bits
 a cell */
#if (BASE_SSD == FIRST)
#define NS_SSD_TYPE_0 SSD_TYPE_CONV
#define CELL_MODE (CELL_MODE_MLC)
#define SSD_PARTITIONS (2)
#define NAND_CHANNELS (4)
#define LUNS_PER_NAND_CH (2)
#define PLNS_PER_LUN (1)
#define FLASH_PAGE_SIZE KB(16)
#define ONESHOT_PAGE_SIZE (FLASH_PAGE_SIZE * 2)
#define BLKS_PER_PLN (64)
#define BLK_SIZE (0)
#define MAX_CH_XFER_SIZE KB(16)
#define WRITE_UNIT_SIZE (512)
#define NAND_CHANNEL_BANDWIDTH (800ull) //MB/s
#define PCIE_BANDWIDTH (3200ull)
#define NAND_4KB_READ_LATENCY_LSB (30000 - 1000)
#define NAND_4KB_READ_LATENCY_MSB (40000 - 1000)
#define NAND_READ_LATENCY_LSB 30000
#define NAND_READ_LATENCY_MSB 40000
#define NAND_READ_LATENCY_CSB (0)
#define NAND_PROG_LATENCY (185000)
#define NAND_ERASE_LATENCY (0)
#define FW_4KB_READ_LATENCY (20000)
#define FW_READ_LATENCY (25000)
#define FW_WBUF_LATENCY0 (4000)
#define FW_WBUF_LATENCY1 (400)
#define FW_CH_XFER_LATENCY (0)
#define OP_AREA_PERCENT (0.25)
#define GLOBAL_WB_SIZE (NAND_CHANNELS * LUNS_PER_NAND_CH * ONESHOT_PAGE_SIZE * 2)
#define WRITE_BUFFER_SIZE GLOBAL_WB_SIZE
#define WRITE_EARLY_COMPLETION 1
#define OWN_KEY (3)
#elif (BASE_SSD == SECOND)
#define NS_SSD_TYPE_0 SSD_TYPE_ZNS
#define NAND_CHANNELS (8)
#endif
#endif
"""
SIMPLESSD = """# a drive in the form of SimpleSSD's
[pal]
Channel = 2
Package = 2
Die = 1
Plane = 2
Block = 128
Page = 64
PageSize = 16K
EnableMultiPlaneOperation = 0
NANDType = 1
LSBRead = 40000000   # ps
MSBRead = 65us
LSBWrite = 500000000
MSBWrite = 1300000000
CSBRead = 0
Erase = 3500000000
DMASpeed = 400
DMAWidth = 16
PageAllocation = WCDP
[ftl]
MappingMode = 0
OverProvisioningRatio = 0.25
EvictPolicy = 3
DChoiceParam = 5
GCThreshold = 0.05
GCMode = 1
GCReclaimThreshold = 0.1
FillRatio = 1.0
InvalidPageRatio = 0.0
[icl]
CacheSize = 1M
EnableReadCache = 0
EnableWriteCache = 1
EvictPolicy = 2
OwnKey = 1
[nvme]
PCIEGeneration = 2
PCIELane = 4
AXIBusWidth = 2
AXIClock = 250000000
[own]
Key = 4
"""
SIMPLESSD_XML = """<!-- before the declaration -->
<?xml version="1.0" encoding="UTF-8" ?>
<simplessd version="2.1">
  <section name="icl"><config name="CacheMode">0</config><config name="CacheSize">512M</config></section>
  <section name="ftl">
    <config name="MappingMode">0</config>
    <section name="gc"><config name="VictimSelectionPolicy">2</config><config name="GCThreshold">0.05</config></section>
    <section name="common"><config name="OverProvisioningRatio">0.2</config></section>
  </section>
  <section name="fil">
    <config name="Channel">2</config>
    <config name="Way">2</config>
    <section name="nand">
      <config name="Die">1</config><config name="Plane">1</config><config name="Block">128</config>
      <config name="Page">64</config><config name="PageSize">16K</config><config name="SpareSize">2208</config>
      <config name="DMASpeed">333m</config><config name="DataWidth">8</config><config name="NANDType">1</config>
      <config name="PageAllocation">CWDP</config>
      <section name="timing">
        <config name="tBERS">10ms</config>
        <config name="tPROG" level="0">600us</config><config name="tPROG" level="1">1200us</config>
        <config name="tR" level="0">50us</config><config name="tR" level="1">80us</config>
      </section>
    </section>
  </section>
</simplessd>
"""
STANDALONE = """[global]
Mode = 0
LogPeriod = 10
[generator]
readwrite = randrw
rwmixread = 0.7
blocksize = 8K
blockalign =
iomode = async
iodepth = 16
io_size = 16M
[trace]
File = ./test.txt
"""
SAMPLES = {
    "ssdconfig.xml": MQSIM_DEVICE,
    "workload.xml": MQSIM_FLOWS,
    "run.sh": FEMU,
    "ssd_config.h": NVMEVIRT,
    "drive.cfg": SIMPLESSD,
    "drive.xml": SIMPLESSD_XML,
    "sim.cfg": STANDALONE,
}
