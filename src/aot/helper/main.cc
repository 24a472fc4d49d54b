// The executable that compiles for TPUs in a process of its own, so that a compiler that aborts or
// hangs is an error message in another process.
//
//   torch_tpu_aot REQUEST_FILE
//
// See aot/request.h for the request and aot/compile_job.h for the results. On stdout, one line
// each: "topology JSON", and for each job "start NAME" and "done NAME". The exit status is 0 when
// all jobs were tried, 2 when the request is bad or the plugin or topology failed (the reason is on
// stdout as "error CODE MESSAGE"). A job over its time limit ends the process by SIGALRM.

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "aot/compile_job.h"
#include "aot/request.h"
#include "pjrt/plugin.h"

namespace torch_tpu::aot {
namespace {

constexpr unsigned kLoadSeconds = 60;  // libtpu is half a gigabyte to read

// One write: lines stay whole, and are out before anything aborts.
void Say(const std::string& line) {
  const std::string text = line + "\n";
  if (write(STDOUT_FILENO, text.data(), text.size()) < 0) _exit(3);
}

std::string OneLine(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

// libtpu reads these when it is loaded. Without them it waits minutes for a metadata server,
// refuses to be loaded by two processes, and writes logs to /tmp.
void PrepareEnvironment() {
  setenv("TPU_SKIP_MDS_QUERY", "1", 1);
  setenv("ALLOW_MULTIPLE_LIBTPU_LOAD", "1", 1);
  setenv("TPU_LOG_DIR", "disabled", 0);
  setenv("TPU_WORKER_HOSTNAMES", "localhost", 0);
  setenv("TPU_WORKER_ID", "0", 0);
  setenv("TPU_ACCELERATOR_TYPE", "v5litepod-4", 0);
}

Result<Request> ReadRequest(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound(std::string("cannot read the request ") + path);
  return ParseRequest(std::string(std::istreambuf_iterator<char>(file), {}));
}

Status Run(const char* path) {
  ASSIGN_OR_RETURN(const Request request, ReadRequest(path));
  PrepareEnvironment();
  if (request.time_limit > 0) alarm(static_cast<unsigned>(request.time_limit) + kLoadSeconds);
  ASSIGN_OR_RETURN(const auto plugin, pjrt::Plugin::Load(request.plugin));
  ASSIGN_OR_RETURN(const auto topology,
                   pjrt::Topology::Create(plugin, request.topology, request.topology_options));
  Say("topology " + TopologyJson(*topology));
  for (const Job& job : request.jobs) {
    Say("start " + job.name);
    alarm(static_cast<unsigned>(request.time_limit));
    RETURN_IF_ERROR(RunJob(*topology, request, job));
    alarm(0);
    Say("done " + job.name);
  }
  return {};
}

}  // namespace
}  // namespace torch_tpu::aot

int main(int argc, char** argv) {
  using torch_tpu::aot::Say;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (argc != 2) {
    Say("error INVALID_ARGUMENT usage: torch_tpu_aot REQUEST_FILE");
    _exit(2);
  }
  const torch_tpu::Status status = torch_tpu::aot::Run(argv[1]);
  if (!status.ok()) {
    Say(std::string("error ") + StatusCodeName(status.code()) + " " +
        torch_tpu::aot::OneLine(status.message()));
  }
  // Plugins crash in their static destructors.
  _exit(status.ok() ? 0 : 2);
}
