// Functions of the runtime that candidates try but that plans cannot represent. Each ends the plan with its
// name and an alternative (refusals.hpp). If the host code calls any other function, the loader ends the plan
// at once, so that later actions of the host code are not seen.
#include "planner/recording_refused.hpp"

#define KERNELSMITH_REFUSED_INTERNAL(name) \
  KERNELSMITH_REFUSED_AS(KERNELSMITH_INTERNAL(name), "__" KERNELSMITH_PREFIX #name)

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the runtime's own names

// Managed memory.
KERNELSMITH_REFUSED(MallocManaged, MemPrefetchAsync, MemPrefetchAsync_v2, MemPrefetchAsync_ptsz,
                    MemPrefetchBatchAsync, MemAdvise, MemAdvise_v2, MemRangeGetAttribute,
                    MemRangeGetAttributes, MemDiscardBatchAsync, MemDiscardAndPrefetchBatchAsync,
                    StreamAttachMemAsync)
KERNELSMITH_REFUSED_INTERNAL(RegisterManagedVar)
KERNELSMITH_REFUSED_INTERNAL(RegisterManagedVariable)

// Host memory that kernels use.
KERNELSMITH_REFUSED(HostGetDevicePointer, HostRegister, HostUnregister, HostGetFlags)

// Graphs of the candidate's own.
KERNELSMITH_REFUSED(StreamBeginCapture, StreamBeginCapture_ptsz, StreamBeginCaptureToGraph, StreamEndCapture,
                    StreamEndCapture_ptsz, StreamUpdateCaptureDependencies,
                    StreamUpdateCaptureDependencies_v2, ThreadExchangeStreamCaptureMode, GraphCreate,
                    GraphDestroy, GraphAddKernelNode, GraphAddMemcpyNode, GraphAddMemcpyNode1D,
                    GraphAddMemsetNode, GraphAddNode, GraphAddNode_v2, GraphAddDependencies,
                    GraphAddChildGraphNode, GraphAddEmptyNode, GraphAddHostNode, GraphAddMemAllocNode,
                    GraphAddMemFreeNode, GraphAddEventRecordNode, GraphAddEventWaitNode, GraphClone,
                    GraphInstantiate, GraphInstantiateWithFlags, GraphInstantiateWithParams,
                    GraphInstantiate_v2, GraphLaunch, GraphLaunch_ptsz, GraphUpload, GraphUpload_ptsz,
                    GraphExecDestroy, GraphExecUpdate, GraphExecKernelNodeSetParams,
                    GraphExecMemcpyNodeSetParams, GraphExecMemsetNodeSetParams, GraphKernelNodeSetParams,
                    GraphKernelNodeGetParams, GraphKernelNodeSetAttribute, GraphGetNodes, GraphGetEdges,
                    GraphConditionalHandleCreate, UserObjectCreate)

// Host code between kernels, and reading on the host.
KERNELSMITH_REFUSED(LaunchHostFunc, LaunchHostFunc_ptsz, StreamAddCallback, StreamAddCallback_ptsz,
                    EventElapsedTime, EventElapsedTime_v2, GetSymbolAddress)

// Textures, surfaces, arrays, volumes.
KERNELSMITH_REFUSED(CreateTextureObject, DestroyTextureObject, CreateSurfaceObject, DestroySurfaceObject,
                    MallocArray, Malloc3DArray, MallocMipmappedArray, Malloc3D, FreeArray, FreeMipmappedArray,
                    MemcpyToArray, MemcpyToArrayAsync, Memcpy2DToArray, Memcpy2DToArrayAsync, Memcpy3D,
                    Memcpy3DAsync, Memset3D, Memset3DAsync, MemcpyBatchAsync, Memcpy3DBatchAsync)
KERNELSMITH_REFUSED_INTERNAL(RegisterTexture)
KERNELSMITH_REFUSED_INTERNAL(RegisterSurface)

// Other devices, processes and modules.
KERNELSMITH_REFUSED(MemcpyPeer, MemcpyPeerAsync, DeviceEnablePeerAccess, DeviceDisablePeerAccess,
                    IpcGetMemHandle, IpcOpenMemHandle, IpcCloseMemHandle, IpcGetEventHandle,
                    IpcOpenEventHandle, ImportExternalMemory, ImportExternalSemaphore,
                    MemPoolExportToShareableHandle, MemPoolImportFromShareableHandle, MemPoolExportPointer,
                    MemPoolImportPointer, DeviceReset, ThreadExit, LibraryLoadData, LibraryLoadFromFile,
                    LibraryGetKernel, LibraryGetGlobal, GetFuncBySymbol, GetExportTable)

// Launches from the device.
KERNELSMITH_REFUSED(LaunchDevice, LaunchDeviceV2, GetParameterBuffer, GetParameterBufferV2,
                    CGGetIntrinsicHandle)
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
