// CUDA runtime and driver, cuBLAS and cuDNN, as far as calls of them resolve.
#ifndef STALLSCOPE_STUBS_CUDA
#define STALLSCOPE_STUBS_CUDA
#ifdef __cplusplus
#include <stddef.h>
#ifndef STALLSCOPE_STUBS_STD
#include <stdlib.h>
#endif

#ifdef __CUDA__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#endif
#define __forceinline__ inline
#define __noinline__
#define __align__(n) alignas(n)
#define __grid_constant__
#define CUDART_CB
#define CUDART_VERSION 12040
#define CUDA_VERSION 12040

struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct cudaArray;
typedef CUstream_st* cudaStream_t;
typedef CUevent_st* cudaEvent_t;
typedef CUgraph_st* cudaGraph_t;
typedef CUgraphExec_st* cudaGraphExec_t;
typedef CUstream_st* CUstream;
typedef CUevent_st* CUevent;
typedef CUctx_st* CUcontext;
typedef CUmod_st* CUmodule;
typedef CUfunc_st* CUfunction;
typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef struct cudaMemPool_st* cudaMemPool_t;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

enum cudaError {
  cudaSuccess = 0, cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorInitializationError,
  cudaErrorNotReady, cudaErrorNoDevice, cudaErrorInvalidDevice, cudaErrorLaunchFailure,
  cudaErrorNotSupported, cudaErrorPeerAccessAlreadyEnabled, cudaErrorUnknown
};
typedef cudaError cudaError_t;
enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_READY };
enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize, cudaFuncAttributePreferredSharedMemoryCarveout };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount, cudaDevAttrMaxThreadsPerBlock, cudaDevAttrMaxSharedMemoryPerBlock,
  cudaDevAttrMaxSharedMemoryPerBlockOptin, cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrComputeCapabilityMinor, cudaDevAttrCooperativeLaunch, cudaDevAttrMemoryPoolsSupported
};
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaEventDefault = 0,
       cudaEventBlockingSync = 1, cudaEventDisableTiming = 2, cudaEventInterprocess = 4,
       cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
       cudaHostAllocWriteCombined = 4, cudaHostRegisterDefault = 0, cudaMemAttachGlobal = 1,
       cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2,
       cudaDeviceScheduleBlockingSync = 4 };
#define cudaStreamLegacy ((cudaStream_t)1)
#define cudaStreamPerThread ((cudaStream_t)2)

struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct uint3 { unsigned x, y, z; };
#define STALLSCOPE_VECTORS(name, base)                                   \
  struct name##1 { base x; };                                            \
  struct name##2 { base x, y; };                                         \
  struct name##3 { base x, y, z; };                                      \
  struct name##4 { base x, y, z, w; };                                   \
  __host__ __device__ name##2 make_##name##2(base, base);                \
  __host__ __device__ name##3 make_##name##3(base, base, base);          \
  __host__ __device__ name##4 make_##name##4(base, base, base, base);
STALLSCOPE_VECTORS(float, float)
STALLSCOPE_VECTORS(double, double)
STALLSCOPE_VECTORS(int, int)
STALLSCOPE_VECTORS(uchar, unsigned char)
STALLSCOPE_VECTORS(ushort, unsigned short)
STALLSCOPE_VECTORS(longlong, long long)
struct uint1 { unsigned x; };
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
__host__ __device__ uint2 make_uint2(unsigned, unsigned);
__host__ __device__ uint3 make_uint3(unsigned, unsigned, unsigned);
__host__ __device__ uint4 make_uint4(unsigned, unsigned, unsigned, unsigned);
struct __half {
  __half() = default;
  __host__ __device__ __half(float);
  __host__ __device__ operator float() const;
};
struct __half2 { __half x, y; };
struct __nv_bfloat16 {
  __nv_bfloat16() = default;
  __host__ __device__ __nv_bfloat16(float);
  __host__ __device__ operator float() const;
};
struct __nv_bfloat162 { __nv_bfloat16 x, y; };
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
__host__ __device__ float __half2float(__half);
__host__ __device__ __half __float2half(float);
__host__ __device__ __nv_bfloat16 __float2bfloat16(float);
__host__ __device__ __nv_bfloat16 __float2bfloat16_rn(float);
__host__ __device__ float __bfloat162float(__nv_bfloat16);

#ifdef __CUDA__
extern const __device__ uint3 threadIdx;
extern const __device__ uint3 blockIdx;
extern const __device__ dim3 blockDim;
extern const __device__ dim3 gridDim;
extern const __device__ int warpSize;
__device__ void __syncthreads();
__device__ void __syncwarp(unsigned = ~0u);
__device__ void __threadfence();
template <class T> __device__ T __shfl_sync(unsigned, T, int, int = 32);
template <class T> __device__ T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <class T> __device__ T __shfl_up_sync(unsigned, T, unsigned, int = 32);
template <class T> __device__ T __shfl_xor_sync(unsigned, T, int, int = 32);
template <class T> __device__ T __ldg(const T*);
template <class T> __device__ T __ldcs(const T*);
template <class T> __device__ void __stcs(T*, T);
template <class T, class U> __device__ T atomicAdd(T*, U);
template <class T, class U> __device__ T atomicMax(T*, U);
template <class T, class U> __device__ T atomicMin(T*, U);
template <class T, class U> __device__ T atomicExch(T*, U);
template <class T, class U, class V> __device__ T atomicCAS(T*, U, V);
#endif

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor, totalConstMem;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major,
      minor, multiProcessorCount, maxThreadsPerMultiProcessor, memoryClockRate, memoryBusWidth,
      l2CacheSize, concurrentKernels, canMapHostMemory, integrated, unifiedAddressing,
      managedMemory, cooperativeLaunch, asyncEngineCount, computeMode, pciBusID, pciDeviceID;
};
struct cudaPointerAttributes { int type, device; void *devicePointer, *hostPointer; };
struct cudaFuncAttributes { size_t sharedSizeBytes; int maxThreadsPerBlock, numRegs; };
struct cudaIpcMemHandle_t { char reserved[64]; };
struct cudaIpcEventHandle_t { char reserved[64]; };
struct cudaExtent { size_t width, height, depth; };
struct cudaPitchedPtr { void* ptr; size_t pitch, xsize, ysize; };

extern "C" {
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorString(cudaError_t);
const char* cudaGetErrorName(cudaError_t);
cudaError_t cudaGetDevice(int*);
cudaError_t cudaSetDevice(int);
cudaError_t cudaSetDeviceFlags(unsigned);
cudaError_t cudaGetDeviceCount(int*);
cudaError_t cudaDeviceReset();
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaThreadSynchronize();
cudaError_t cudaDeviceGetAttribute(int*, cudaDeviceAttr, int);
cudaError_t cudaDeviceSetLimit(int, size_t);
cudaError_t cudaDeviceCanAccessPeer(int*, int, int);
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned);
cudaError_t cudaDeviceGetStreamPriorityRange(int*, int*);
cudaError_t cudaMemGetInfo(size_t*, size_t*);
cudaError_t cudaFree(void*);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaFreeAsync(void*, cudaStream_t);
cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemcpy2D(void*, size_t, const void*, size_t, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpy2DAsync(void*, size_t, const void*, size_t, size_t, size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemcpyPeer(void*, int, const void*, int, size_t);
cudaError_t cudaMemcpyPeerAsync(void*, int, const void*, int, size_t, cudaStream_t = 0);
cudaError_t cudaMemset(void*, int, size_t);
cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t = 0);
cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = 0);
cudaError_t cudaMemAdvise(const void*, size_t, int, int);
cudaError_t cudaHostRegister(void*, size_t, unsigned);
cudaError_t cudaHostUnregister(void*);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes*, const void*);
cudaError_t cudaStreamCreate(cudaStream_t*);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t*, unsigned, int);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0);
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
cudaError_t cudaLaunchHostFunc(cudaStream_t, void (*)(void*), void*);
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t);
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*);
cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned);
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();
cudaError_t cudaRuntimeGetVersion(int*);
cudaError_t cudaDriverGetVersion(int*);
CUresult cuInit(unsigned);
CUresult cuDeviceGet(CUdevice*, int);
CUresult cuCtxCreate(CUcontext*, unsigned, CUdevice);
CUresult cuCtxSynchronize();
CUresult cuStreamSynchronize(CUstream);
CUresult cuEventSynchronize(CUevent);
CUresult cuMemAlloc(CUdeviceptr*, size_t);
CUresult cuMemFree(CUdeviceptr);
CUresult cuMemcpyDtoH(void*, CUdeviceptr, size_t);
CUresult cuMemcpyHtoD(CUdeviceptr, const void*, size_t);
CUresult cuMemcpyDtoHAsync(void*, CUdeviceptr, size_t, CUstream);
CUresult cuMemcpyHtoDAsync(CUdeviceptr, const void*, size_t, CUstream);
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**, void**);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);
unsigned cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
}
template <class T> cudaError_t cudaMalloc(T**, size_t);
template <class T> cudaError_t cudaMallocAsync(T**, size_t, cudaStream_t);
template <class T> cudaError_t cudaMallocHost(T**, size_t, unsigned = 0);
template <class T> cudaError_t cudaHostAlloc(T**, size_t, unsigned);
template <class T> cudaError_t cudaMallocManaged(T**, size_t, unsigned = 1);
template <class T> cudaError_t cudaMallocPitch(T**, size_t*, size_t, size_t);
template <class T> cudaError_t cudaHostGetDevicePointer(T**, void*, unsigned);
template <class P> cudaError_t cudaGetDeviceProperties(P*, int);
template <class T> cudaError_t cudaMemcpyToSymbol(const T&, const void*, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyHostToDevice);
template <class T> cudaError_t cudaMemcpyFromSymbol(void*, const T&, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost);
template <class T> cudaError_t cudaGetSymbolAddress(void**, const T&);
template <class T> cudaError_t cudaFuncSetAttribute(T, cudaFuncAttribute, int);
template <class T> cudaError_t cudaFuncSetCacheConfig(T, cudaFuncCache);
template <class T> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, T);
template <class T> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, T, int, size_t);
template <class T> cudaError_t cudaOccupancyMaxPotentialBlockSize(int*, int*, T, size_t = 0, int = 0);
template <class T> cudaError_t cudaLaunchKernel(T, dim3, dim3, void**, size_t = 0, cudaStream_t = 0);
template <class T> cudaError_t cudaLaunchCooperativeKernel(T, dim3, dim3, void**, size_t = 0, cudaStream_t = 0);
template <class... A> cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, A...);

typedef struct cublasContext* cublasHandle_t;
typedef struct cublasLtContext* cublasLtHandle_t;
typedef struct cudnnContext* cudnnHandle_t;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_NOT_INITIALIZED, CUBLAS_STATUS_EXECUTION_FAILED };
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C };
enum cublasMath_t { CUBLAS_DEFAULT_MATH, CUBLAS_TENSOR_OP_MATH, CUBLAS_TF32_TENSOR_OP_MATH };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE };
enum cudaDataType_t { CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F, CUDA_R_8I, CUDA_R_32I };
typedef cudaDataType_t cudaDataType;
enum cublasComputeType_t { CUBLAS_COMPUTE_16F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_64F };
enum cublasGemmAlgo_t { CUBLAS_GEMM_DEFAULT, CUBLAS_GEMM_DEFAULT_TENSOR_OP };
enum cudnnStatus_t { CUDNN_STATUS_SUCCESS };
cublasStatus_t cublasCreate(cublasHandle_t*);
cublasStatus_t cublasDestroy(cublasHandle_t);
cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t);
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t);
cublasStatus_t cublasSetPointerMode(cublasHandle_t, cublasPointerMode_t);
template <class... A> cublasStatus_t cublasSgemm(cublasHandle_t, A...);
template <class... A> cublasStatus_t cublasDgemm(cublasHandle_t, A...);
template <class... A> cublasStatus_t cublasHgemm(cublasHandle_t, A...);
template <class... A> cublasStatus_t cublasGemmEx(cublasHandle_t, A...);
template <class... A> cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t, A...);
template <class... A> cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t, A...);
template <class... A> cublasStatus_t cublasSgemv(cublasHandle_t, A...);
template <class... A> cublasStatus_t cublasSaxpy(cublasHandle_t, A...);
template <class... A> cublasStatus_t cublasSdot(cublasHandle_t, A...);
template <class... A> cublasStatus_t cublasSnrm2(cublasHandle_t, A...);
template <class... A> cublasStatus_t cublasSasum(cublasHandle_t, A...);
template <class... A> cublasStatus_t cublasIsamax(cublasHandle_t, A...);
template <class... A> cublasStatus_t cublasLtMatmul(cublasLtHandle_t, A...);
cudnnStatus_t cudnnCreate(cudnnHandle_t*);
cudnnStatus_t cudnnDestroy(cudnnHandle_t);
cudnnStatus_t cudnnSetStream(cudnnHandle_t, cudaStream_t);
template <class... A> cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t, A...);
template <class... A> cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t, A...);
template <class... A> cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t, A...);

#endif
#endif
