// Status and Result: how every torch-free layer reports failure.
//
// A failure is a value with a code and a message that a user can read: which operator or call, what
// was expected, what was got, what to do. Nothing below the PyTorch seam lets an exception cross a
// layer, and nothing that a user can reach aborts the process.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace torch_tpu {

// The canonical codes shared by PJRT and Abseil, with the same numbers.
enum class StatusCode : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// Upper-case name of `code`, for example "RESOURCE_EXHAUSTED".
const char* StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  friend bool operator==(const Status&, const Status&) = default;

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same failure with `context` and ": " put before the message. An ok status stays ok.
  Status WithContext(const std::string& context) const;
  // "OK" or "CODE: message".
  std::string ToString() const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

inline Status InvalidArgument(std::string m) {
  return {StatusCode::kInvalidArgument, std::move(m)};
}
inline Status NotFound(std::string m) { return {StatusCode::kNotFound, std::move(m)}; }
inline Status Unimplemented(std::string m) { return {StatusCode::kUnimplemented, std::move(m)}; }
inline Status Internal(std::string m) { return {StatusCode::kInternal, std::move(m)}; }
inline Status FailedPrecondition(std::string m) {
  return {StatusCode::kFailedPrecondition, std::move(m)};
}

// Either a T or the Status that says why there is none. Reading the value of a failed Result is a
// broken invariant and throws std::bad_variant_access.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : v_(std::move(value)) {}         // NOLINT: implicit on purpose
  Result(Status status) : v_(std::move(status)) {}  // NOLINT: implicit on purpose

  bool ok() const { return std::holds_alternative<T>(v_); }
  Status status() const { return ok() ? Status() : std::get<Status>(v_); }
  T& value() & { return std::get<T>(v_); }
  const T& value() const& { return std::get<T>(v_); }
  T&& value() && { return std::get<T>(std::move(v_)); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Status> v_;
};

#define TORCH_TPU_CONCAT_INNER(a, b) a##b
#define TORCH_TPU_CONCAT(a, b) TORCH_TPU_CONCAT_INNER(a, b)

// Returns the Status of `expr` from the enclosing function when it is a failure.
#define RETURN_IF_ERROR(expr)                        \
  do {                                               \
    ::torch_tpu::Status status_of_expr = (expr);     \
    if (!status_of_expr.ok()) return status_of_expr; \
  } while (false)

// ASSIGN_OR_RETURN(auto x, MakeX()): x on success, else returns the failure.
#define ASSIGN_OR_RETURN(lhs, expr) \
  ASSIGN_OR_RETURN_INNER(TORCH_TPU_CONCAT(result_of_, __LINE__), lhs, expr)
#define ASSIGN_OR_RETURN_INNER(result, lhs, expr) \
  auto result = (expr);                           \
  if (!result.ok()) return result.status();       \
  lhs = std::move(result).value()

}  // namespace torch_tpu
