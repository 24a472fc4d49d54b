// What is remembered per signature: output tensors to make, where results go, and the program.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "device/signature.h"
#include "graph/call_spec.h"
#include "graph/runtime.h"

namespace torch_tpu::device {

struct OutputTensor {
  c10::ScalarType dtype = c10::ScalarType::Undefined;  // Undefined: an undefined tensor is returned
  Dims sizes, strides;
};

// Where program result r goes.
struct ResultSlot {
  bool write = false;  // into the tensor of use `index`, else into fresh output `index`
  int index = 0;
};

struct Entry {
  std::vector<uint64_t> structure, sizes;  // the words
  std::shared_ptr<const graph::CallSpec> spec;
  std::vector<OutputTensor> fresh;    // per fresh return, lists flattened
  std::vector<int> fresh_per_return;  // -1: a tensor; n: a list of n
  std::vector<ResultSlot> slots;
  std::vector<c10::IValue> values;  // returns that are no tensors, in order
  // Fresh outputs that are as long as they can become along a dim; the last result says how much of
  // it counts.
  struct Padded {
    int output = 0;
    int64_t dim = 0;
  };
  std::vector<Padded> padded;

  // Compiles at the first call and after tier 1 dropped the program. Raises on failure (and tries
  // again next time).
  std::shared_ptr<graph::Program> ProgramOrThrow(graph::Runtime& runtime);

 private:
  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;  // guards program_
  std::weak_ptr<graph::Program> program_;
};

// Signature to entry, for one operator. Entries live as long as the table. Thread-safe.
class EntryTable {
 public:
  Entry* Find(const Signature& signature);
  // Keeps the first of two entries made at the same time for equal words.
  Entry* Insert(const Signature& signature, std::unique_ptr<Entry> entry);
  size_t size() const;

 private:
  static bool Matches(const Entry& entry, const Signature& signature) {
    return entry.structure == signature.structure() && entry.sizes == signature.sizes();
  }
  mutable std::mutex mutex_;
  std::atomic<Entry*> last_{nullptr};
  std::unordered_multimap<uint64_t, std::unique_ptr<Entry>> entries_;
};

}  // namespace torch_tpu::device
