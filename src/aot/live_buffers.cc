// Liveness of buffers over a schedule.
#include "aot/live_buffers.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace torch_tpu::aot {
namespace {

struct Buffer {
  LiveBuffer what;
  size_t first = 0;
  size_t last = 0;
};

// A leaf of a value's shape and the buffer that holds it; -1: not in main memory.
struct Leaf {
  const HloShape* shape;
  int buffer = -1;
};

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

void Flatten(const HloShape& shape, std::vector<Leaf>* leaves) {
  if (!shape.is_tuple()) return leaves->push_back({&shape});
  for (const HloShape& part : shape.tuple) Flatten(part, leaves);
}

size_t LeafCount(const HloShape& shape) {
  std::vector<Leaf> leaves;
  Flatten(shape, &leaves);
  return leaves.size();
}

class Replay {
 public:
  Replay(const HloModule& module, const HloComputation& computation)
      : module_(module), computation_(computation) {
    is_entry_ = computation.id == module.entry_id;
  }

  LivePeak Run() {
    FindLastUses();
    for (now_ = 0; now_ < computation_.instructions.size(); ++now_) {
      const HloInstruction& i = computation_.instructions[now_];
      std::vector<Leaf> leaves = Define(i);
      Touch(i);
      values_[i.id] = std::move(leaves);
    }
    MarkOutputs();
    return Peak();
  }

 private:
  void FindLastUses() {
    const auto& list = computation_.instructions;
    for (size_t at = 0; at < list.size(); ++at) {
      for (int64_t operand : list[at].operands) last_use_[operand] = at;
    }
  }

  int NewBuffer(const HloInstruction& i, const HloShape& shape) {
    if (shape.memory_space != 0 || shape.Bytes() == 0) return -1;
    Buffer buffer{{&i, &computation_, &shape, shape.Bytes(), BufferKind::kTemporary}, now_, now_};
    if (i.opcode == "parameter") {
      if (!is_entry_) return -1;  // it lies in the caller's buffer
      buffer.what.kind = BufferKind::kArgument;
      buffer.first = 0;
    }
    if (i.opcode == "constant") buffer.what.kind = BufferKind::kConstant;
    buffers_.push_back(buffer);
    return static_cast<int>(buffers_.size()) - 1;
  }

  const std::vector<Leaf>& OperandLeaves(const HloInstruction& i, size_t operand) {
    static const std::vector<Leaf>* const kNone = new std::vector<Leaf>;
    if (operand >= i.operands.size()) return *kNone;
    return values_[i.operands[operand]];
  }

  // The buffers of the leaves of `i`: those of its operands where it only renames or updates them.
  std::vector<Leaf> Define(const HloInstruction& i) {
    std::vector<Leaf> leaves;
    Flatten(i.shape, &leaves);
    if (i.opcode == "tuple") {
      size_t next = 0;
      for (size_t o = 0; o < i.operands.size(); ++o) {
        for (const Leaf& leaf : OperandLeaves(i, o)) {
          if (next < leaves.size()) leaves[next++].buffer = leaf.buffer;
        }
      }
      return leaves;
    }
    if (i.opcode == "get-tuple-element") return Element(i, std::move(leaves));
    if (i.opcode == "bitcast" || i.opcode == "optimization-barrier" || i.opcode == "opt-barrier" ||
        i.opcode == "while" || i.opcode == "dynamic-update-slice" || i.opcode == "scatter" ||
        i.opcode == "add-dependency") {
      const auto& operand = OperandLeaves(i, 0);
      for (size_t l = 0; l < leaves.size() && l < operand.size(); ++l) {
        leaves[l].buffer = operand[l].buffer;
      }
      return leaves;
    }
    if (EndsWith(i.opcode, "-done") || EndsWith(i.opcode, "-update")) {
      return Finished(i, std::move(leaves));
    }
    for (size_t l = 0; l < leaves.size(); ++l) leaves[l].buffer = Result(i, l, *leaves[l].shape);
    return leaves;
  }

  std::vector<Leaf> Element(const HloInstruction& i, std::vector<Leaf> leaves) {
    const HloShape* tuple = ShapeOf(i.operands.empty() ? 0 : i.operands[0]);
    const auto& operand = OperandLeaves(i, 0);
    if (tuple == nullptr || !tuple->is_tuple()) return leaves;
    size_t first = 0;
    for (int64_t t = 0; t < i.tuple_index && t < static_cast<int64_t>(tuple->tuple.size()); ++t) {
      first += LeafCount(tuple->tuple[static_cast<size_t>(t)]);
    }
    for (size_t l = 0; l < leaves.size() && first + l < operand.size(); ++l) {
      leaves[l].buffer = operand[first + l].buffer;
    }
    return leaves;
  }

  // What an asynchronous start announced: copy-start puts the result first, the others last.
  std::vector<Leaf> Finished(const HloInstruction& i, std::vector<Leaf> leaves) {
    std::vector<Leaf> given = OperandLeaves(i, 0);
    if (i.opcode != "copy-done") std::reverse(given.begin(), given.end());
    for (Leaf& leaf : leaves) {
      const std::string wanted = leaf.shape->ToString();
      const auto found = std::find_if(given.begin(), given.end(),
                                      [&](const Leaf& g) { return g.shape->ToString() == wanted; });
      if (found == given.end()) continue;
      leaf.buffer = found->buffer;
      given.erase(found);
    }
    return leaves;
  }

  int Result(const HloInstruction& i, size_t leaf, const HloShape& shape) {
    const auto pinned = i.in_operand.find(static_cast<int64_t>(leaf));
    if (pinned != i.in_operand.end()) {
      const auto& operand = OperandLeaves(i, static_cast<size_t>(pinned->second));
      if (!operand.empty()) return operand[0].buffer;
    }
    const bool starts = EndsWith(i.opcode, "-start");
    for (size_t o = 0; o < i.operands.size(); ++o) {
      for (const Leaf& source : OperandLeaves(i, o)) {
        if (source.buffer < 0) continue;
        const bool carried = starts && (i.opcode != "copy-start" || leaf == 1) &&
                             source.shape->ToString() == shape.ToString() && leaf <= o + 1;
        if (carried || CanReuse(i, i.operands[o], source, shape)) return source.buffer;
      }
    }
    return NewBuffer(i, shape);
  }

  // An elementwise result may take the place of an operand of its size that nobody reads later.
  bool CanReuse(const HloInstruction& i, int64_t operand, const Leaf& source,
                const HloShape& shape) {
    if (i.opcode != "fusion" || shape.memory_space != 0) return false;
    const Buffer& buffer = buffers_[source.buffer];
    return buffer.what.kind == BufferKind::kTemporary && last_use_[operand] == now_ &&
           buffer.what.bytes == shape.Bytes() && source.shape->dims == shape.dims &&
           buffer.last < now_;
  }

  const HloShape* ShapeOf(int64_t id) const {
    for (const HloInstruction& i : computation_.instructions) {
      if (i.id == id) return &i.shape;
    }
    return nullptr;
  }

  void Touch(const HloInstruction& i) {
    for (int64_t operand : i.operands) {
      for (const Leaf& leaf : values_[operand]) {
        if (leaf.buffer >= 0) buffers_[leaf.buffer].last = now_;
      }
    }
  }

  void MarkOutputs() {
    const size_t end = computation_.instructions.empty() ? 0 : computation_.instructions.size() - 1;
    const std::vector<Leaf>& root = values_[computation_.root_id];
    for (size_t l = 0; l < root.size(); ++l) {
      if (root[l].buffer < 0) continue;
      Buffer& buffer = buffers_[root[l].buffer];
      buffer.last = end;
      if (buffer.what.kind != BufferKind::kTemporary) continue;
      buffer.what.kind = BufferKind::kOutput;
      // It is written into the donated argument's buffer.
      if (is_entry_ && module_.aliased_parameters.count(static_cast<int64_t>(l)) != 0) {
        buffer.what.bytes = 0;
      }
    }
    for (Buffer& buffer : buffers_) {
      const BufferKind kind = buffer.what.kind;
      // The caller gives the outputs' memory too, before the program starts.
      if (kind == BufferKind::kTemporary || (kind == BufferKind::kOutput && !is_entry_)) continue;
      buffer.first = 0;
      buffer.last = end;
    }
  }

  // The moment of most memory, counting what loops and calls need inside.
  LivePeak Peak() {
    const auto& list = computation_.instructions;
    std::vector<int64_t> live(list.size() + 1, 0);
    for (const Buffer& b : buffers_) {
      live[b.first] += b.what.bytes;
      live[b.last + 1] -= b.what.bytes;
    }
    LivePeak best;
    size_t best_at = 0;
    LivePeak best_inside;
    int64_t now = 0;
    for (size_t at = 0; at < list.size(); ++at) {
      now += live[at];
      LivePeak inside = Inside(list[at]);
      if (best.at != nullptr && now + inside.bytes <= best.bytes) continue;
      best.bytes = now + inside.bytes;
      best.at = inside.at != nullptr && inside.bytes > 0 ? inside.at : &list[at];
      best_at = at;
      best_inside = std::move(inside);
    }
    for (const Buffer& b : buffers_) {
      if (b.first <= best_at && best_at <= b.last && b.what.bytes > 0) {
        best.buffers.push_back(b.what);
      }
    }
    best.buffers.insert(best.buffers.end(), best_inside.buffers.begin(), best_inside.buffers.end());
    std::stable_sort(best.buffers.begin(), best.buffers.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    return best;
  }

  LivePeak Inside(const HloInstruction& i) {
    LivePeak most;
    if (i.opcode != "while" && i.opcode != "conditional" && i.opcode != "call") return most;
    for (int64_t id : i.called) {
      const HloComputation* called = module_.Find(id);
      if (called == nullptr || called->is_fusion) continue;
      LivePeak inside = Replay(module_, *called).Run();
      if (inside.bytes > most.bytes) most = std::move(inside);
    }
    for (LiveBuffer& b : most.buffers) {
      if (b.kind == BufferKind::kOutput) b.kind = BufferKind::kTemporary;
    }
    return most;
  }

  const HloModule& module_;
  const HloComputation& computation_;
  bool is_entry_ = false;
  size_t now_ = 0;
  std::vector<Buffer> buffers_;
  std::unordered_map<int64_t, std::vector<Leaf>> values_;
  std::unordered_map<int64_t, size_t> last_use_;
};

}  // namespace

const char* BufferKindName(BufferKind kind) {
  switch (kind) {
    case BufferKind::kArgument:
      return "argument";
    case BufferKind::kOutput:
      return "output";
    case BufferKind::kTemporary:
      return "temporary";
    case BufferKind::kConstant:
      return "constant";
  }
  return "";
}

LivePeak FindLivePeak(const HloModule& module) {
  const HloComputation* entry = module.entry();
  return entry == nullptr ? LivePeak{} : Replay(module, *entry).Run();
}

}  // namespace torch_tpu::aot
