// Compiling a module and describing the result.
#include "aot/compile_job.h"

#include <chrono>
#include <fstream>
#include <iterator>
#include <string_view>

#include "aot/hlo_analysis.h"
#include "aot/json.h"
#include "aot/live_buffers.h"
#include "aot/module_check.h"
#include "aot/origins.h"

namespace torch_tpu::aot {
namespace {

constexpr size_t kMaxBuffers = 1000;  // of the peak; the sum of the rest is told

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound("cannot read the module file " + path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Status WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return file ? Status() : Internal("cannot write " + path);
}

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

void AddStatus(const Status& status, JsonWriter* json) {
  json->Field("status", std::string(StatusCodeName(status.code())));
  json->Field("message", status.message());
}

// `field` is left out of the JSON when the plugin does not answer.
void AddMemory(const pjrt::CompiledProgram& program, JsonWriter* json) {
  const auto memory = program.Memory();
  if (!memory.ok()) return;
  json->Key("memory").BeginObject();
  json->Field("argument", memory->argument).Field("output", memory->output);
  json->Field("alias", memory->alias).Field("temp", memory->temp);
  json->Field("generated_code", memory->generated_code).Field("peak", memory->peak);
  json->Field("host_argument", memory->host_argument).Field("host_output", memory->host_output);
  json->Field("host_alias", memory->host_alias).Field("host_temp", memory->host_temp);
  json->Field("host_generated_code", memory->host_generated_code);
  json->Field("total", memory->total).Field("total_allocation", memory->total_allocation);
  json->Field("indefinite_allocation", memory->indefinite_allocation);
  json->Field("peak_unpadded_heap", memory->peak_unpadded_heap);
  json->EndObject();
}

void AddCosts(const pjrt::CompiledProgram& program, JsonWriter* json) {
  const auto costs = program.Costs();
  if (!costs.ok()) return;
  json->Key("costs").BeginObject();
  for (const auto& [name, value] : *costs) json->Field(name, value);
  json->EndObject();
}

// Where an instruction comes from.
void AddOrigin(const HloInstruction& i, const Origins& origins, JsonWriter* json) {
  const HloInstruction& origin = origins.Of(i);
  json->Field("instruction", i.name).Field("opcode", i.opcode).Field("op_name", origin.op_name);
  json->Field("source_file", origin.source_file).Field("source_line", origin.source_line);
}

void AddBuffers(const HloModule& module, const Origins& origins, JsonWriter* json) {
  const LivePeak peak = FindLivePeak(module);
  json->Key("live_peak").BeginObject().Field("bytes", peak.bytes);
  if (peak.at != nullptr) {
    json->Key("at").BeginObject();
    AddOrigin(*peak.at, origins, json);
    json->EndObject();
  }
  json->Key("buffers").BeginArray();
  int64_t rest = 0;
  for (size_t i = 0; i < peak.buffers.size(); ++i) {
    const LiveBuffer& buffer = peak.buffers[i];
    if (i >= kMaxBuffers) {
      rest += buffer.bytes;
      continue;
    }
    json->BeginObject().Field("bytes", buffer.bytes);
    json->Field("kind", std::string(BufferKindName(buffer.kind)));
    json->Field("computation", buffer.computation->name);
    json->Field("shape", buffer.shape->ToString());
    json->Field("parameter", buffer.instruction->parameter_number);
    AddOrigin(*buffer.instruction, origins, json);
    json->EndObject();
  }
  json->EndArray().Field("other_buffers_bytes", rest).EndObject();
}

void AddFigures(const HloModule& module, const Origins& origins, JsonWriter* json) {
  const HloFigures figures = ReadFigures(module);
  json->Field("instructions", figures.instructions).Field("fusions", figures.fusions);
  json->Field("estimated_cycles", figures.estimated_cycles);
  json->Field("unknown_cycles", figures.unknown_cycles);
  json->Field("custom_calls", figures.custom_calls);
  json->Key("custom_call_targets").BeginArray();
  for (const std::string& target : figures.custom_call_targets) json->Text(target);
  json->EndArray().Key("collectives").BeginArray();
  for (const Collective& c : figures.collectives) {
    json->BeginObject();
    AddOrigin(*c.instruction, origins, json);
    json->Field("shape", c.instruction->shape.ToString()).Field("bytes", c.bytes);
    json->Field("replica_groups", c.instruction->replica_groups);
    json->Field("computation", c.computation);
    json->Field("start", c.start).Field("done", c.done).Field("length", c.length);
    json->EndObject();
  }
  json->EndArray();
}

// Analysis of the optimised program, which is also written as text.
Status AddProgram(const pjrt::CompiledProgram& program, const Job& job, JsonWriter* json) {
  std::string format;
  const auto bytes = program.OptimizedProgram(&format);
  if (!bytes.ok()) {
    json->Field("analysis_message", bytes.status().ToString());
    return {};
  }
  const auto module = ParseHlo(*bytes, format);
  if (!module.ok()) {
    json->Field("analysis_message", module.status().ToString());
    return {};
  }
  RETURN_IF_ERROR(WriteFile(job.result_directory + "/optimized.hlo", HloText(*module)));
  json->Key("analysis").BeginObject();
  const Origins origins(*module);
  AddFigures(*module, origins, json);
  AddBuffers(*module, origins, json);
  json->EndObject();
  return {};
}

Status Describe(const pjrt::CompiledProgram& program, const Job& job, JsonWriter* json) {
  json->Field("fingerprint", Hex(program.Fingerprint()));
  if (const auto code = program.GeneratedCodeBytes(); code.ok()) {
    json->Field("generated_code_bytes", *code);
  }
  AddMemory(program, json);
  AddCosts(program, json);
  RETURN_IF_ERROR(AddProgram(program, job, json));
  const auto serialized = program.Serialize();
  if (!serialized.ok()) return {};
  json->Field("serialized_bytes", static_cast<int64_t>(serialized->size()));
  return WriteFile(job.result_directory + "/executable.bin", *serialized);
}

Result<std::unique_ptr<pjrt::CompiledProgram>> Compile(const pjrt::Topology& topology,
                                                       const Request& request, const Job& job) {
  ASSIGN_OR_RETURN(const std::string module, ReadFile(job.module_path));
  RETURN_IF_ERROR(CheckBounded(module));
  RETURN_IF_ERROR(CheckDevices(module, request.options.num_replicas, request.options.num_partitions,
                               static_cast<int64_t>(topology.devices().size())));
  return pjrt::CompiledProgram::Compile(topology, module, request.options, request.effort);
}

}  // namespace

std::string TopologyJson(const pjrt::Topology& topology) {
  JsonWriter json;
  json.BeginObject().Field("platform", topology.platform_name());
  json.Field("platform_version", topology.platform_version());
  json.Texts("plugin", topology.plugin().attributes());
  json.Texts("attributes", topology.attributes());
  json.Key("devices").BeginArray();
  for (const pjrt::TopologyDevice& device : topology.devices()) {
    json.BeginObject().Field("id", device.id).Field("kind", device.kind);
    json.Texts("attributes", device.attributes).EndObject();
  }
  json.EndArray().EndObject();
  return json.text();
}

Status RunJob(const pjrt::Topology& topology, const Request& request, const Job& job) {
  const auto start = std::chrono::steady_clock::now();
  const auto program = Compile(topology, request, job);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  JsonWriter json;
  json.BeginObject().Field("name", job.name).Field("compile_seconds", seconds.count());
  AddStatus(program.status(), &json);
  if (program.ok()) RETURN_IF_ERROR(Describe(**program, job, &json));
  json.EndObject();
  return WriteFile(job.result_directory + "/result.json", json.text());
}

Status WriteFailure(const Job& job, const Status& reason) {
  JsonWriter json;
  json.BeginObject().Field("name", job.name);
  AddStatus(reason, &json);
  json.EndObject();
  return WriteFile(job.result_directory + "/result.json", json.text());
}

}  // namespace torch_tpu::aot
