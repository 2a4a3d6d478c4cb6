// What names tell about functions, classes and variables. Words used across
// trainers in the wild; every other part asks here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "source/syntax/ast.h"

namespace stallscope {

/// Whether a class of that resolved path is an nn.Module (or flax, equinox) base.
bool is_module_class(std::string_view path);

/// FunctionFlag bits that a function's own name gives it.
uint32_t role_flags(std::string_view name, bool of_module, bool method);

/// Whether a loop runs over a model's parameters, gradients or a state dict.
bool runs_over_parameters(const Ast& ast, NodeId loop);
/// Whether it runs over an optimizer's groups of them.
bool runs_over_groups(const Ast& ast, NodeId loop);

/// Forward_gpu(), attn_layer_fw(), dispatchRasterizeBackward(): a C++ operator or layer by its
/// name.
bool is_operator_name(std::string_view name);
/// PYBIND11_MODULE, PybindOps(), bind_ops(): what offers functions to Python runs none of them.
bool is_binding_name(std::string_view name);

/// Whether the head of a C++ loop counts steps, iterations or rounds, and no trials.
bool names_iterations(std::string_view head);
/// train(), FitModel(): whether a function of C++ trains, by its name.
bool trains_by_name(std::string_view function);
/// Whether the head of a loop of C++ counts batches of training, not what is in one.
bool names_batches(std::string_view head);

/// predict(), act(): what uses a trained model, also where it launches kernels itself.
bool predicts(std::string_view name);
/// "save_model" of "saveModel"; other names as they are.
std::string snake_case(std::string_view name);
/// Whether a function whose name says that it builds may as well transform what it is given.
bool works_on_data(std::string_view name);
/// Whether a function of C++ by that name hands out memory, or makes room for more.
bool is_allocator_name(std::string_view name);
/// Whether `receiver.step()` is an optimiser's step, by the receiver's name.
bool is_optimizer_name(std::string_view name);

/// Whether calling a variable of this name runs a model or a loss.
bool is_model_name(std::string_view name);

/// Whether a loop variable of this name counts: i, step, batch_idx.
bool is_counter_name(std::string_view name);

/// Whether a parameter of this name is a size, by convention: H, W, num_heads.
bool is_size_name(std::string_view name);

/// Whether a variable of this name selects elements: mask, valid_mask.
bool is_mask_name(std::string_view name);

/// Whether a noise scheduler of diffusion keeps a table under this name.
bool is_scheduler_table(std::string_view name);

/// Whether a variable of this name holds a count or a size.
bool is_count_name(std::string_view name);

/// Whether iterating over a variable of this name yields batches.
bool is_loader_name(std::string_view name);
/// Whether next(text), or a loop that unpacks what `text` gives, takes batches: self.data too.
bool yields_batches(std::string_view text);
/// Where the sequences of a packed batch begin: on the device, where attention wants them.
bool is_offsets_name(std::string_view name);

/// Whether the elements of a variable of this name are samples on the host: val_dataset[i].
bool is_dataset_name(std::string_view name);

/// Whether a class of this name holds a batch: SampleList, ModelInputs.
bool is_batch_class_name(std::string_view name);

/// Whether such a class moves itself to the device in this method: GraphBatch.to_device().
bool moves_own_batch(std::string_view class_name, std::string_view method);

/// Whether a variable of this name holds what a loader yields.
bool is_batch_name(std::string_view name);

/// get_batch(), sample_batch(): whether a function of this name puts a batch together.
bool is_batch_getter(std::string_view name);

/// Whether a variable of this name is exchanged with an environment: actions, observations.
bool is_environment_name(std::string_view name);
/// env, self.envs, VecEnv: what an agent acts in, but for evaluations.
bool is_simulator_name(std::string_view name);
/// register_forward_pre_hook(), register_full_backward_hook(), tensor.register_hook()
bool is_hook_registration(std::string_view name);
/// agent.update(), self.alg.learn(batch): who acts is trained.
bool is_learning_call(std::string_view object, std::string_view method);

/// Whether a function of this name exists to wait.
bool is_wait_name(std::string_view name);

/// Whether its name says nothing else: synchronize, sync_device, cuda_wait_all.
bool is_wait_only_name(std::string_view name);

/// stream_sync(), master_queue_synchronize(): on whichever object, not wait() alone.
bool names_what_it_waits_for(std::string_view name);
/// dones_cpu: says that it is kept on the host.
bool is_host_copy_of_tensor(std::string_view name);
/// np_rewards, obs_np
bool is_numpy_name(std::string_view name);
/// flush(), clear_memory(), torch_gc(): gives memory back, and does nothing else.
bool is_release_name(std::string_view name);
/// cuda_pull_array(), copy_to_host(), download(): of C++, what brings device memory to the host.
bool is_read_back_name(std::string_view name);
/// cuda_push_array(), copyToDevice(): copies from the host, in C++.
bool is_upload_name(std::string_view name);
/// gpuMallocMemory(), device_alloc(): takes memory for who calls it.
bool is_allocation_name(std::string_view name);
/// copyTo(), get_centroids(), to_host(): what hands to the host what its caller asks for.
bool is_hand_over_name(std::string_view name);

/// Whether a function of Python by that name brings to the host what its callers want there:
/// to_numpy(), _fetch_array().
bool is_host_copy_name(std::string_view name);

/// advance(), iterate_once(), SimulationStep(): one step of a simulation by its name.
bool is_simulation_step(std::string_view name);

/// train_epoch(), runEpoch(): of all the steps of one.
bool names_epoch(std::string_view function);
/// pcaFit(), fit_transform(): the training of a library's estimator from beginning to end.
bool is_whole_fit(std::string_view name);

/// Whether a function of this name evaluates on all of a data set: evaluate_model, not eval_step.
bool is_whole_evaluation(std::string_view name);
/// run_verification_gates(), compare_gradients(): takes gradients to see whether they are right.
bool is_verification_name(std::string_view name);

/// Whether a class works on samples on the host: datasets, samplers, transforms, collators.
bool is_data_class(std::string_view name);

/// Whether a class measures time or memory, or shows values: its waits are its purpose.
bool is_timing_class(std::string_view name);
/// cuda_profile_start(), StopProfiler(): what somebody who measures switches on.
bool runs_profiler(std::string_view name);

/// Whether a function of this name averages gradients over ranks: allreduce_params().
bool averages_gradients(std::string_view function);

/// Whether a function of this name moves a batch to the device.
bool moves_data(std::string_view function);

/// Whether a function of this name moves batches in a file of that path: a loader's module may be
/// where the trainer's are moved; one that serves is not.
bool is_batch_mover(std::string_view path, std::string_view function);

/// Whether a function of this name is an agent that acts: select_action, act.
bool is_acting_name(std::string_view name);

/// Whether what a class of this name samples is made with a trained model: ODESolver, Pipeline.
bool is_solver_class(std::string_view name);
/// DDIMSampler, BeamSearch: makes outputs of a trained model, step by step.
bool is_sampler_class(std::string_view name);

/// Whether a package serves to deploy, convert or show trained models.
bool is_deployment_library(std::string_view package);

/// Whether a function of this name that takes nothing tries what its file defines: test, check_env.
bool is_trial_name(std::string_view name);
/// Whether a method of that name and these parameters asks a policy about the actions that were
/// taken, as each update does: evaluate_actions(obs, actions), evaluate(state, action).
bool judges_actions(std::string_view name, const std::vector<std::string>& parameters);

/// Whether a function of this name tells people how training goes: what nobody is seen to call does
/// so now and then.
bool is_report_name(std::string_view name);

/// Whether a file's path says that it shows, serves, converts or prepares data.
bool is_beside_path(std::string_view path);

/// Whether a file has modules that change samples, mostly where the host loads them: transforms.py.
bool is_transform_path(std::string_view path);

/// Whether a file is called a copy or an old version of another: "main (copy).cpp", train_old.py.
bool is_spare_path(std::string_view path);

/// Whether a word of a file's path says that it writes to disks or reads from them.
bool is_storage_path(std::string_view path);

/// Whether a word of a file's path says inference, serving or what is made of results.
bool is_inference_path(std::string_view path);

/// Whether a folder of a file's path is called inference, or the file export.py or decode.py: what
/// lies there is for a trained model.
bool is_for_trained_model(std::string_view path);

/// Whether a file's path says that batches are made or moved there.
bool is_data_path(std::string_view path);

/// Whether a file's path says that it works beside training: conversion, plots, data sets, ...
/// What nothing in the project calls in a step is no training code there.
bool is_host_side_path(std::string_view path);

/// Whether methods of the class evaluate: TestMeter, ValLoop, LossEvaluator.
bool is_evaluation_class(std::string_view name);

/// Whether a function of that name takes over what it is given, seldom: set_params, setWeights.
bool is_setter_name(std::string_view name);

/// exit(), exitSimulation(), ShutDown(): whether a step that calls a function of that name is the
/// last one.
bool ends_program(std::string_view name);

/// Whether a file of C++ belongs to what runs trained models, by its folders.
bool is_serving_path(std::string_view path);

/// Whether a file is a script that evaluates, by its name: eval.py, test_net.py.
bool is_evaluation_script(std::string_view path);
/// The same, or what stands in a folder for evaluation.
bool is_evaluation_place(std::string_view path);

/// Whether a file shows or tries what other files define.
bool is_example_path(std::string_view path);

/// Whether a script or configuration file is for trying things, not for training, by its path.
bool is_trial_path(std::string_view path);

/// Whether the file belongs to tests or benchmarks, by its path.
bool is_test_path(std::string_view path);
/// TEST_CASE of doctest and Catch2, TEST_F of GoogleTest and their kin.
bool is_test_macro(std::string_view name);

/// Whether a decorator or a `with` says that no gradients are wanted.
bool says_without_grad(std::string_view code);

}  // namespace stallscope
