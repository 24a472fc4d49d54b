// The fake plugin's objects, its one worker thread, and what tests control. Everything global is
// never destroyed.
#pragma once

#include <pjrt_c_api.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt/fake/fake_module.h"

namespace torch_tpu::pjrt::fake {

struct Failure {
  PJRT_Error_Code code;
  std::string message;
};

// Counts the live objects of one kind.
template <typename Tag>
class Counted {
 public:
  Counted() { ++live; }
  Counted(const Counted&) = delete;
  ~Counted() { --live; }
  static inline std::atomic<int64_t> live{0};
};

// Something that completes once, well or with a failure. Any thread.
class Completion {
 public:
  void Complete(std::optional<Failure> failure);
  bool IsReady() const;
  const std::optional<Failure>& Await() const;
  // Runs `callback` now when complete, else on the completing thread.
  void OnReady(std::function<void(const std::optional<Failure>&)> callback);

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable ready_changed_;
  bool ready_ = false;
  std::optional<Failure> failure_;
  std::vector<std::function<void(const std::optional<Failure>&)>> callbacks_;
};
// Completed well.
std::shared_ptr<Completion> Completed();

// Zero-filled device memory, accounted while it lives.
class Storage {
 public:
  // Null when the memory limit would be exceeded.
  static std::shared_ptr<Storage> Allocate(int64_t bytes);
  ~Storage();
  char* data() { return data_.data(); }
  int64_t size() const { return static_cast<int64_t>(data_.size()); }

 private:
  explicit Storage(int64_t bytes) : data_(static_cast<size_t>(bytes)) {}
  std::vector<char> data_;
};

struct Program {
  std::string text;
  Signature signature;
};

// What tests set and read.
class Controls {
 public:
  void Reset();
  // Counts a call of `slot`; the failure that was ordered for it, if any.
  std::optional<Failure> Record(std::string_view slot);
  int64_t CallCount(std::string_view slot) const;
  void FailNext(std::string_view slot, int nth, Failure failure);
  // Counts an execution; the failure that its outputs shall carry, if any.
  std::optional<Failure> TakeExecutionFailure();

  std::atomic<int> delay_ms{0};
  std::atomic<int64_t> memory_limit{0};
  std::atomic<int64_t> peak_bytes{0};
  std::atomic<int64_t> live_bytes{0};

  void SetLastCompile(std::string_view module, std::string_view options);
  std::string last_module() const;
  std::string last_options() const;

 private:
  struct Order {
    std::string slot;
    int remaining;
    Failure failure;
  };

  mutable std::mutex mutex_;
  std::map<std::string, int64_t, std::less<>> counts_;
  std::vector<Order> orders_;
  std::string last_module_;
  std::string last_options_;
};
Controls& GetControls();

// Runs executions in order on its own thread; inline when there is nothing to wait for.
class Worker {
 public:
  void Run(std::function<void()> execution);
  void SetHold(bool on);
  void WaitUntilIdle();

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool hold_ = false;
  bool busy_ = false;
  bool started_ = false;
};
Worker& GetWorker();

PJRT_Error* MakeError(PJRT_Error_Code code, std::string message);
PJRT_Event* MakeEvent(std::shared_ptr<Completion> completion);

}  // namespace torch_tpu::pjrt::fake

// The opaque types of the header.
struct PJRT_Error : torch_tpu::pjrt::fake::Counted<PJRT_Error> {
  torch_tpu::pjrt::fake::Failure failure;
};

struct PJRT_Event : torch_tpu::pjrt::fake::Counted<PJRT_Event> {
  std::shared_ptr<torch_tpu::pjrt::fake::Completion> completion;
};

struct PJRT_Memory {
  std::string kind;
};

struct PJRT_Device {
  PJRT_Client* client = nullptr;
  std::string kind = "fake";
  std::string debug_string = "FakeDevice(id=0)";
};

struct PJRT_Client : torch_tpu::pjrt::fake::Counted<PJRT_Client> {
  PJRT_Device device{this};
  PJRT_Memory memories[2] = {{"device"}, {"pinned_host"}};
  PJRT_Device* devices[1] = {&device};
  PJRT_Memory* memory_list[2] = {&memories[0], &memories[1]};
};

struct PJRT_Buffer : torch_tpu::pjrt::fake::Counted<PJRT_Buffer> {
  torch_tpu::pjrt::fake::Type type;
  PJRT_Client* client = nullptr;
  PJRT_Memory* memory = nullptr;
  std::shared_ptr<torch_tpu::pjrt::fake::Completion> ready;

  // Null once deleted or donated.
  std::shared_ptr<torch_tpu::pjrt::fake::Storage> storage() const {
    const std::lock_guard<std::mutex> lock(mutex);
    return bytes;
  }
  std::shared_ptr<torch_tpu::pjrt::fake::Storage> TakeStorage() {
    const std::lock_guard<std::mutex> lock(mutex);
    return std::move(bytes);
  }

  mutable std::mutex mutex;
  std::shared_ptr<torch_tpu::pjrt::fake::Storage> bytes;
};

struct PJRT_Executable {
  std::shared_ptr<const torch_tpu::pjrt::fake::Program> program;
  std::string fingerprint;
};

struct PJRT_LoadedExecutable : torch_tpu::pjrt::fake::Counted<PJRT_LoadedExecutable> {
  PJRT_Client* client = nullptr;
  std::shared_ptr<const torch_tpu::pjrt::fake::Program> program;
};

struct PJRT_SerializedExecutable {
  std::string bytes;
};
