// CompileOptionsProto written by hand.
#include "pjrt/compile_options.h"

#include "pjrt/proto_writer.h"

namespace torch_tpu::pjrt {
namespace {

// OptionOverrideProto: a oneof, so a false or zero value is written too.
std::string OverrideProto(const OptionValue& value) {
  ProtoWriter proto;
  if (const auto* text = std::get_if<std::string>(&value)) proto.Bytes(1, *text);
  if (const auto* flag = std::get_if<bool>(&value)) proto.Varint(2, *flag);
  if (const auto* number = std::get_if<int64_t>(&value)) proto.Varint(3, *number);
  if (const auto* real = std::get_if<double>(&value)) proto.Double(4, *real);
  return proto.bytes();
}

// DeviceAssignmentProto: one ComputationDevice a partition, holding the device of each replica.
std::string DeviceAssignmentProto(const CompileOptions& options) {
  ProtoWriter proto;
  proto.Varint(1, options.num_replicas);
  proto.Varint(2, options.num_partitions);
  for (int64_t partition = 0; partition < options.num_partitions; ++partition) {
    ProtoWriter devices;
    for (int64_t replica = 0; replica < options.num_replicas; ++replica) {
      devices.Varint(1, options.device_assignment[replica * options.num_partitions + partition]);
    }
    proto.Bytes(3, devices.bytes());
  }
  return proto.bytes();
}

}  // namespace

Status CompileOptions::Check() const {
  if (num_replicas < 1 || num_partitions < 1) {
    return InvalidArgument(
        "compile options: expected at least one replica and one partition, got " +
        std::to_string(num_replicas) + " and " + std::to_string(num_partitions));
  }
  const auto assigned = static_cast<int64_t>(device_assignment.size());
  if (assigned != 0 &&
      (assigned % num_replicas != 0 || assigned / num_replicas != num_partitions)) {
    return InvalidArgument("compile options: expected a device for each of " +
                           std::to_string(num_replicas) + " replicas of " +
                           std::to_string(num_partitions) + " partitions, got " +
                           std::to_string(assigned) + " devices");
  }
  return {};
}

std::string CompileOptions::Serialize() const {
  ProtoWriter build;  // ExecutableBuildOptionsProto
  build.Varint(1, device_ordinal);
  build.Varint(4, num_replicas);
  build.Varint(5, num_partitions);
  if (use_spmd_partitioning) build.Varint(6, 1);
  if (!device_assignment.empty()) build.Bytes(9, DeviceAssignmentProto(*this));
  if (use_shardy) build.Varint(19, 1);

  ProtoWriter options;
  options.Bytes(3, build.bytes());
  std::map<std::string, OptionValue> flags = overrides;
  flags.insert(hints.begin(), hints.end());
  for (const auto& [name, value] : flags) {
    ProtoWriter entry;
    entry.Bytes(1, name);
    entry.Bytes(2, OverrideProto(value));
    options.Bytes(7, entry.bytes());
  }
  return options.bytes();
}

}  // namespace torch_tpu::pjrt
