// Benchmarks: what only times or tries kernels and models is no training, whatever it is called.
#pragma once

#include <cstdint>
#include <span>

#include "source/facts/facts.h"
#include "source/syntax/ast.h"

namespace stallscope {

/// A program that times kernels and updates nothing trains nothing, whatever its kernels are
/// called: matmul_backward() in a loop is no step, and a wait for the timer's events no stall. Of a
/// library that is so of the functions that time, and of Python of those that time a model.
/// `timed`: loops that measure time.
void leave_out_benchmarks(const Ast& ast, std::span<const uint32_t> timed, FileFacts& facts);

/// benchmark_kernel(repeats, attention_forward): a program of C++ that has such calls and updates
/// nothing tries its kernels, whatever they are called.
void leave_out_tried_kernels(const Ast& ast, FileFacts& facts);

}  // namespace stallscope
