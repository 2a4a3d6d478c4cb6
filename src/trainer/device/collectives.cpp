#include "trainer/device/collectives.h"

#include <functional>
#include <utility>

#include "trainer/device/announce.h"

namespace stallscope::trainer {
namespace {

uint8_t announced_op(comm::Collective call) {
  constexpr uint8_t kOps[] = {STALLSCOPE_COLLECTIVE_ALL_REDUCE,
                              STALLSCOPE_COLLECTIVE_REDUCE_SCATTER,
                              STALLSCOPE_COLLECTIVE_ALL_GATHER, STALLSCOPE_COLLECTIVE_BROADCAST,
                              STALLSCOPE_COLLECTIVE_BARRIER};
  return kOps[static_cast<size_t>(call)];
}

uint8_t announced_type(comm::DataType type) {
  constexpr uint8_t kTypes[] = {STALLSCOPE_DTYPE_F32, STALLSCOPE_DTYPE_F64, STALLSCOPE_DTYPE_I32,
                                STALLSCOPE_DTYPE_I64, STALLSCOPE_DTYPE_U8};
  return kTypes[static_cast<size_t>(type)];
}

}  // namespace

void Group::start(Stream& stream, Call call, comm::DataType type, size_t elements, int peer,
                  Operation operation) {
  stallscope_collective it;
  it.op = announced_op(call);
  it.dtype = announced_type(type);
  it.async = 1;
  it.device = static_cast<int16_t>(device_.number());
  it.modelled = device_.timed();
  it.stream = stream.number();
  it.correlation = stallscope_next_correlation();
  it.bytes = elements * comm::size_of(type);
  it.elements = elements;
  it.group = std::hash<std::string>{}(communicator_.group());
  it.sequence = sequence_++;
  it.world_size = static_cast<uint32_t>(size());
  it.peer = peer;
  const char* name = comm::to_string(call).data();
  const Scope scope(name, api_of(STALLSCOPE_API_COLLECTIVE, device_, it.stream, it.correlation));
  struct Running {
    Device* device;
    Stream* stream;
    const char* name;
    stallscope_collective fields;
    Operation operation;
    void operator()() {
      if (device->failed()) return;
      const Scope running(name, fields);
      if (Status status = operation(); !status.ok()) return device->fail(status.error());
      if (device->timed()) stream->finish_after(device->options().timing->collective(fields.bytes));
    }
  };
  stream.enqueue(Running{&device_, &stream, name, it, operation});
}

}  // namespace stallscope::trainer
