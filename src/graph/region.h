// A region: recorded calls that are computed by one program.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cache/key.h"
#include "graph/call_spec.h"
#include "graph/in_flight.h"
#include "graph/runtime.h"
#include "graph/value.h"

namespace torch_tpu::graph {

// A call that was recorded instead of run.
struct DeferredCall {
  std::shared_ptr<const CallSpec> spec;
  std::vector<OperandRef> operands;  // as spec->operands
  std::vector<ValueRef> results;
  std::string python_line;  // "model.py:12 in forward" where lines are traced
};

// Formed once, then only the sender touches it. Calls of it are in program order and each is needed
// by a result that somebody outside still holds; what nobody needs is left out when it is formed.
class Region : public std::enable_shared_from_this<Region> {
 public:
  struct Result {
    int call = 0;    // index into calls
    int output = 0;  // of that call
  };

  // `calls` have consecutive numbers (Value::number) that begin with `first`. Which calls are dead
  // depends on reference counts alone: each result must be held by its call, by operands of
  // recorded calls, and by whoever is outside. Null when all are dead.
  static std::shared_ptr<Region> Form(std::vector<DeferredCall> calls, uint64_t first,
                                      InFlight& in_flight);

  // What the program is built from. The key needs none of it.
  std::shared_ptr<const CallSpec> BuildSpec() const;
  // "aten::mul, aten::add and 12 more"
  std::string Describe() const;

  const cache::Key& key() const { return key_; }
  const std::vector<DeferredCall>& calls() const { return calls_; }
  const std::vector<OperandRef>& operands() const { return operands_; }
  const std::vector<Result>& results() const { return results_; }
  const ValueRef& value(const Result& r) const { return calls_[r.call].results[r.output]; }
  // (operand, result) pairs that may share a buffer, because an in-place call asked for it.
  const std::vector<std::pair<int, int>>& aliases() const { return aliases_; }
  // Operands of aliases() that somebody outside the region holds, ascending.
  std::vector<int64_t> NonDonatable() const;
  InFlight& in_flight() const { return in_flight_; }

  // Blocks until every result is a buffer or an error.
  void Wait();
  // Called once by the sender: lets go of all calls and operands.
  void Finish();
  bool finished();

  // The sender's own state, guarded by its lock.
  struct Progress {
    int blockers = 0;  // regions that compute operands, and the compile
    std::vector<std::shared_ptr<Region>> dependents;
    std::shared_ptr<Program> program;
    Status status;
    bool done = false;
  } progress;

 private:
  // Where an operand of a call comes from.
  struct Source {
    int call = -1;   // index into calls_, -1: operand `index` of the region
    int index = -1;  // output of that call, or operand
  };

  explicit Region(InFlight& in_flight) : in_flight_(in_flight) {}
  void Connect(uint64_t first, const std::vector<int>& index_of);
  void ChooseAliases();
  int AddOperand(const OperandRef& operand);

  std::vector<DeferredCall> calls_;
  std::vector<Source> sources_;  // of all operands of all calls, one after the other
  std::vector<size_t> first_source_;
  std::vector<OperandRef> operands_;
  std::vector<int> uses_;  // references that operands of calls_ hold to operands_[i].value
  std::vector<Result> results_;
  std::vector<std::pair<int, int>> aliases_;
  cache::Key key_;
  InFlight& in_flight_;

  std::mutex mutex_;
  std::condition_variable finished_cv_;
  bool finished_ = false;
};

}  // namespace torch_tpu::graph
