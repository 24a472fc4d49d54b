// Questions to a PJRT_Executable.
#include "pjrt/program_queries.h"

#include "pjrt/api_call.h"

namespace torch_tpu::pjrt {
namespace {

// The header's struct ends at the peak (API 0.81) while newer plugins fill more fields behind it.
// A plugin writes only the fields that it knows and accepts a larger struct.
struct MemoryStatsArgs : PJRT_Executable_GetCompiledMemoryStats_Args {
  int64_t later[8] = {};  // total, and since 0.104 allocated, indefinite, peak unpadded
};
static_assert(sizeof(PJRT_Executable_GetCompiledMemoryStats_Args) >=
              PJRT_Executable_GetCompiledMemoryStats_Args_STRUCT_SIZE);

// The 64-bit field at `offset` of the struct, wherever the header's part ends.
int64_t FieldAt(const MemoryStatsArgs& args, size_t offset) {
  return *reinterpret_cast<const int64_t*>(reinterpret_cast<const char*>(&args) + offset);
}

}  // namespace

std::string FingerprintOf(const PJRT_Api* api, PJRT_Executable* executable) {
  auto args =
      MakeArgs<PJRT_Executable_Fingerprint_Args>(PJRT_Executable_Fingerprint_Args_STRUCT_SIZE);
  args.executable = executable;
  const Status status =
      CallSlot(api, &PJRT_Api::PJRT_Executable_Fingerprint, "PJRT_Executable_Fingerprint", &args);
  if (!status.ok()) return "";
  return std::string(args.executable_fingerprint, args.executable_fingerprint_size);
}

Result<std::string> SerializeOf(const PJRT_Api* api, PJRT_Executable* executable) {
  auto args = MakeArgs<PJRT_Executable_Serialize_Args>(PJRT_Executable_Serialize_Args_STRUCT_SIZE);
  args.executable = executable;
  RETURN_IF_ERROR(
      CallSlot(api, &PJRT_Api::PJRT_Executable_Serialize, "PJRT_Executable_Serialize", &args));
  std::string bytes(args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_executable_deleter(args.serialized_executable);
  return bytes;
}

Result<ProgramMemory> MemoryOf(const PJRT_Api* api, PJRT_Executable* executable) {
  constexpr size_t kPeakOffset = 104;  // of 0.81 and later; fields are only ever appended
  static_assert(offsetof(PJRT_Executable_GetCompiledMemoryStats_Args, peak_memory_in_bytes) ==
                kPeakOffset);
  MemoryStatsArgs args{};
  args.struct_size = kPeakOffset + 5 * sizeof(int64_t);
  args.executable = executable;
  RETURN_IF_ERROR(CallSlot<PJRT_Executable_GetCompiledMemoryStats_Args>(
      api, &PJRT_Api::PJRT_Executable_GetCompiledMemoryStats,
      "PJRT_Executable_GetCompiledMemoryStats", &args));
  ProgramMemory memory;
  memory.argument = args.argument_size_in_bytes;
  memory.output = args.output_size_in_bytes;
  memory.alias = args.alias_size_in_bytes;
  memory.temp = args.temp_size_in_bytes;
  memory.generated_code = args.generated_code_size_in_bytes;
  memory.peak = args.peak_memory_in_bytes;
  memory.host_argument = args.host_argument_size_in_bytes;
  memory.host_output = args.host_output_size_in_bytes;
  memory.host_alias = args.host_alias_size_in_bytes;
  memory.host_temp = args.host_temp_size_in_bytes;
  memory.host_generated_code = args.host_generated_code_size_in_bytes;
  memory.total = FieldAt(args, kPeakOffset + 8);
  memory.total_allocation = FieldAt(args, kPeakOffset + 16);
  memory.indefinite_allocation = FieldAt(args, kPeakOffset + 24);
  memory.peak_unpadded_heap = FieldAt(args, kPeakOffset + 32);
  return memory;
}

Result<std::map<std::string, double>> CostsOf(const PJRT_Api* api, PJRT_Executable* executable) {
  auto args = MakeArgs<PJRT_Executable_GetCostAnalysis_Args>(
      PJRT_Executable_GetCostAnalysis_Args_STRUCT_SIZE);
  args.executable = executable;
  RETURN_IF_ERROR(CallSlot(api, &PJRT_Api::PJRT_Executable_GetCostAnalysis,
                           "PJRT_Executable_GetCostAnalysis", &args));
  std::map<std::string, double> costs;
  for (size_t i = 0; i < args.num_properties; ++i) {
    const PJRT_NamedValue& property = args.properties[i];
    if (const auto number = NamedValueNumber(property)) {
      costs[std::string(property.name, property.name_size)] = *number;
    }
  }
  return costs;
}

Result<std::string> OptimizedProgramOf(const PJRT_Api* api, PJRT_Executable* executable,
                                       std::string* format) {
  auto program = MakeArgs<PJRT_Program>(PJRT_Program_STRUCT_SIZE);
  auto args = MakeArgs<PJRT_Executable_OptimizedProgram_Args>(
      PJRT_Executable_OptimizedProgram_Args_STRUCT_SIZE);
  args.executable = executable;
  args.program = &program;
  const auto call = [&] {
    return CallSlot(api, &PJRT_Api::PJRT_Executable_OptimizedProgram,
                    "PJRT_Executable_OptimizedProgram", &args);
  };
  RETURN_IF_ERROR(call());  // without a destination it only tells the size
  std::string code(program.code_size, '\0');
  program.code = code.data();
  RETURN_IF_ERROR(call());
  if (format != nullptr) *format = std::string(program.format, program.format_size);
  return code;
}

Result<int64_t> GeneratedCodeBytesOf(const PJRT_Api* api, PJRT_Executable* executable) {
  auto args = MakeArgs<PJRT_Executable_SizeOfGeneratedCodeInBytes_Args>(
      PJRT_Executable_SizeOfGeneratedCodeInBytes_Args_STRUCT_SIZE);
  args.executable = executable;
  RETURN_IF_ERROR(CallSlot(api, &PJRT_Api::PJRT_Executable_SizeOfGeneratedCodeInBytes,
                           "PJRT_Executable_SizeOfGeneratedCodeInBytes", &args));
  return args.size_in_bytes;
}

}  // namespace torch_tpu::pjrt
