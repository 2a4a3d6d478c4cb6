// What a project is there for: whether anything in it trains.
#pragma once

#include <vector>

#include "source/link/call_graph.h"

namespace stallscope {

/// Whether a project of Python runs trained models and trains none: it has functions that want no
/// gradients, and nowhere names an optimiser, a loss, a gradient or what trains for it.
bool only_infers(const CallGraph& graph);

/// Whether a project is a program of C++ that uses LibTorch and names no device but the CPU: as it
/// stands, what it makes stays on the host.
bool names_no_device(const CallGraph& graph);

/// Whether a program of C++ generates text with weights that were trained elsewhere: it speaks of
/// tokens, and nowhere of gradients, losses or training.
bool only_generates(const CallGraph& graph);

/// By file, whether it is of a program of Python that trains with PyTorch and names no device
/// anywhere: what it makes stays on the host, and waits for nothing. The whole project is such a
/// program, or the files that belong together (see programs_of) are.
std::vector<bool> stay_on_host(const CallGraph& graph);

/// Whether the programs of a project that train all choose a device for what they make.
bool chooses_default_device(const CallGraph& graph);

/// Whether anything in a file of Python trains, or speaks of it.
bool is_about_training(const FileFacts& file);

/// Whether a file of Python uses what trained models are deployed or shown with.
bool deploys(const FileFacts& file);

/// Whether a file of Python imports JAX or one of its libraries of layers.
bool uses_jax(const FileFacts& file);
/// inference/sampler.py: of modules that make something of a trained model's output. Layers of C++
/// that go backward, too, are none, wherever they lie.
bool infers_only(const FileFacts& file);

/// Whether a program of Python reads a command line.
bool reads_arguments(const FileFacts& file);

/// Whether a program wraps models in DataParallel: forward() finds its batch on the device.
bool scatters_batches(const CallGraph& graph);

/// Whether a file belongs to tests: by its path, but train_test.py may hold the trainer and its
/// evaluation instead of cases.
bool is_test_file(const FileFacts& file);

}  // namespace stallscope
