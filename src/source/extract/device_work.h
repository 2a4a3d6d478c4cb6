// Device work: which functions of C++ hand work to a device's queue, and which run a training step
// by what they call. Names of theirs say little: any function that launches kernels is an operator.
#pragma once

#include "source/names/names.h"

namespace stallscope {

/// Whether `call` starts a copy or a library's kernel without waiting for it.
bool queues_work(const Ast& ast, const Names& names, NodeId call);

/// Whether a declaration of C++ switches to the device of a tensor: `c10::cuda::CUDAGuard
/// guard(x.device());` is how an operator of ATen begins.
bool is_device_guard(const Ast& ast, NodeId declaration);

/// Whether `call` is handed a stream to queue its work on: fft.forward(x, y, stream). Only where
/// the file is about such streams, not about those that are read and written.
bool is_given_stream(const Ast& ast, NodeId call);

/// Whether a file names the type of a stream of the device.
bool names_streams(std::string_view source);

/// What a call by that name does in a program whose steps are its own functions.
enum class OwnStep : uint8_t { none, forward, backward, update };

/// Of a function or method of C++: net.ForwardBackward(), update_network(), ApplyUpdate().
OwnStep own_step(std::string_view name);

/// Whether a call by that name makes or frees memory of the device, or pinned memory, at once.
bool is_driver_allocation(std::string_view name);

}  // namespace stallscope
