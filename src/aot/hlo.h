// An optimised HLO module as a plugin hands it over (HloModuleProto), reduced to what a report
// needs: names, shapes with layouts, operands, schedule, source lines and printed attributes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace torch_tpu::aot {

struct HloShape {
  int element_type = 0;  // xla::PrimitiveType
  std::vector<int64_t> dims;
  std::vector<int64_t> dynamic;  // 1 where the size is only a bound; empty: nowhere
  std::vector<HloShape> tuple;
  std::vector<int64_t> minor_to_major;
  std::vector<std::vector<int64_t>> tiles;
  int64_t memory_space = 0;  // 0: the device's main memory
  int64_t element_bits = 0;  // 0: the element type's own

  bool is_tuple() const;
  // "bf16[8,128]{1,0:T(8,128)(2,1)S(1)}"
  std::string ToString() const;
  // Bytes in memory, with the padding of the first tile. Of a tuple: of its leaves.
  int64_t Bytes() const;
};

struct HloInstruction {
  int64_t id = 0;
  std::string name;
  std::string opcode;
  HloShape shape;
  std::vector<int64_t> operands;              // ids
  std::vector<int64_t> called;                // computation ids
  std::vector<int64_t> control_predecessors;  // ids
  std::vector<std::string> attributes;        // "dimensions={0,1}", in the order of printing
  std::string custom_call_target;
  std::string replica_groups;  // "{{0,1},{2,3}}"; empty: none given
  std::string op_name;         // metadata
  std::string source_file;
  int64_t source_line = 0;
  std::string backend_config;     // JSON on TPUs
  int64_t estimated_cycles = -1;  // out of backend_config; -1: none, INT64_MAX: not known
  int64_t parameter_number = -1;
  int64_t tuple_index = 0;
  std::string literal;  // of small constants
  // Outputs (first level of a tuple; 0 for an array) that lie in the buffer of an operand (index).
  std::map<int64_t, int64_t> in_operand;
};

struct HloComputation {
  int64_t id = 0;
  std::string name;
  int64_t root_id = 0;
  bool is_fusion = false;
  bool is_scheduled = false;  // it stands in the schedule: it is run as it is, not emitted inline
  std::vector<HloInstruction> instructions;  // in the order of the schedule where there is one
};

struct HloModule {
  std::string name;
  int64_t entry_id = 0;
  bool is_scheduled = false;
  std::vector<HloComputation> computations;       // callees before callers
  std::map<int64_t, int64_t> aliased_parameters;  // output index -> parameter, of donated inputs

  const HloComputation* Find(int64_t computation_id) const;
  const HloComputation* entry() const { return Find(entry_id); }
};

// Reads an HloModuleProto ("hlo") or an HloModuleProtoWithConfig ("hlo_with_config"). Fails with
// INVALID_ARGUMENT on other formats and on bytes that are no such message.
Result<HloModule> ParseHlo(std::string_view bytes, std::string_view format);

// The module as text in the manner of XLA's own, callees first.
std::string HloText(const HloModule& module);

}  // namespace torch_tpu::aot
