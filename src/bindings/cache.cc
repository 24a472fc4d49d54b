// The program cache as Python sees it: statistics, storages, and the queue that serves a remote
// one.
#include "bindings/cache.h"

#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <string>

#include "bindings/python_gate.h"
#include "cache/directory.h"
#include "cache/entry.h"
#include "cache/key_name.h"
#include "cache/remote.h"
#include "cache/tiers.h"
#include "device/errors.h"
#include "graph/compile_progress.h"
#include "graph/options_key.h"
#include "graph/runtime.h"

namespace torch_tpu::bindings {
namespace {

using cache::RemoteStorage;
using cache::Storage;
using device::ThrowIfError;
using device::ValueOrThrow;
using NoGil = py::call_guard<py::gil_scoped_release>;

void AddTier(const std::string& prefix, cache::StoredTier* tier,
             std::map<std::string, int64_t>* out) {
  cache::StoredTierStats none;
  const cache::StoredTierStats& s = tier == nullptr ? none : tier->stats();
  const auto put = [&](const char* name, const std::atomic<int64_t>& value) {
    (*out)[prefix + name] = value.load();
  };
  put("hits", s.hits);
  put("misses", s.misses);
  put("writes", s.writes);
  put("rejected", s.rejected);
  put("errors", s.errors);
  put("read_bytes", s.read_bytes);
  put("written_bytes", s.written_bytes);
  put("pruned", s.pruned);
}

std::map<std::string, int64_t> Stats() {
  std::map<std::string, int64_t> out;
  cache::Tier1Stats one;
  if (graph::Runtime::initialized()) {
    one = ValueOrThrow(graph::Runtime::Get())->compiler().tier1_stats();
  }
  out["tier1_hits"] = one.hits;
  out["tier1_misses"] = one.misses;
  out["tier1_evictions"] = one.evictions;
  out["tier1_entries"] = one.entries;
  out["tier1_bytes"] = one.bytes;
  AddTier("tier2_", cache::Tiers::Get().tier2().get(), &out);
  AddTier("tier3_", cache::Tiers::Get().tier3().get(), &out);
  return out;
}

py::dict Described(const cache::Described& d) {
  py::dict out;
  out["key"] = py::make_tuple(d.key.structure, d.key.sizes, d.key.options);
  out["name"] = d.name;
  out["operands"] = d.operands;
  out["pieces"] = std::map<std::string, std::string>(d.pieces.begin(), d.pieces.end());
  return out;
}

py::object Explain() {
  if (!graph::Runtime::initialized()) return py::none();
  std::optional<cache::Explanation> why;
  {
    py::gil_scoped_release release;
    why = ValueOrThrow(graph::Runtime::Get())->compiler().ExplainLastMiss();
  }
  if (!why) return py::none();
  py::dict out;
  out["miss"] = Described(why->miss);
  out["neighbour"] = why->neighbour ? py::object(Described(*why->neighbour)) : py::none();
  out["components"] = why->components;
  out["pieces"] = why->pieces;
  out["text"] = why->text;
  return out;
}

std::string TierDescription(const std::shared_ptr<cache::StoredTier>& tier) {
  return tier == nullptr ? "" : tier->storage().description();
}

std::map<std::string, int64_t> PruneStorage(Storage& storage, int64_t bytes, int64_t seconds) {
  const auto result = ValueOrThrow(cache::Prune(storage, {bytes, seconds}, time(nullptr)));
  return {{"removed", result.removed},
          {"removed_bytes", result.removed_bytes},
          {"kept", result.kept},
          {"kept_bytes", result.kept_bytes}};
}

// What a stored file holds, or why it is refused.
py::dict Decode(const std::string& bytes) {
  const cache::Entry entry = ValueOrThrow(cache::DecodeEntry(bytes));
  py::dict out = Described({entry.key, entry.info.name, entry.info.operands, entry.info.pieces});
  out["file"] = RemoteStorage::FileName(entry.key);
  out["text_hash"] = cache::HexOf(entry.text_hash);
  out["executable_bytes"] = entry.executable.size();
  out["compile_microseconds"] = entry.info.compile_microseconds;
  out["created"] = entry.info.created;
  return out;
}

cache::Key KeyOf(const std::string& file) {
  const auto key = RemoteStorage::KeyOf(file);
  if (!key) throw py::value_error("'" + file + "' is not the name of a stored program");
  return *key;
}

py::bytes ReadFile(Storage& storage, const std::string& file) {
  const cache::Key key = KeyOf(file);
  cache::Blob blob;
  {
    py::gil_scoped_release release;
    blob = ValueOrThrow(storage.Read(key));
  }
  return {blob.bytes.data(), blob.bytes.size()};
}

// (name, bytes, time of use), the least recently used first.
std::vector<std::tuple<std::string, int64_t, int64_t>> ListFiles(Storage& storage) {
  std::vector<std::tuple<std::string, int64_t, int64_t>> out;
  for (const auto& f : ValueOrThrow(storage.List())) {
    out.emplace_back(RemoteStorage::FileName(f.key), f.bytes, f.used);
  }
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return std::get<2>(a) < std::get<2>(b); });
  return out;
}

// Requests as (id, verb, name, bytes). Daemon threads wait here when Python ends.
py::object NextRequest(RemoteStorage& storage) {
  std::optional<RemoteStorage::Request> request;
  {
    py::gil_scoped_release release;
    request = storage.Next();
    PythonGate::Get().Enter();
  }
  PythonGate::Get().Leave();
  if (!request) return py::none();
  static constexpr const char* kVerbs[] = {"read", "write", "remove", "list"};
  return py::make_tuple(request->id, kVerbs[request->verb], request->name,
                        py::bytes(request->bytes));
}

void FinishRequest(RemoteStorage& storage, int64_t id, const std::optional<py::bytes>& bytes,
                   const std::optional<std::string>& error, bool missing,
                   const std::vector<std::tuple<std::string, int64_t, int64_t>>& files) {
  RemoteStorage::Answer answer;
  if (error) {
    answer.status = {missing ? StatusCode::kNotFound : StatusCode::kUnavailable, *error};
  }
  if (bytes) answer.bytes = *bytes;
  for (const auto& [name, size, used] : files) {
    if (const auto key = RemoteStorage::KeyOf(name)) answer.files.push_back({*key, size, used});
  }
  storage.Finish(id, std::move(answer));
}

void DefineStorage(py::module_& m) {
  py::class_<Storage, std::shared_ptr<Storage>>(m, "_Storage")
      .def("description", &Storage::description)
      .def("list", &ListFiles, NoGil())
      .def("read", &ReadFile)
      .def(
          "write",
          [](Storage& s, const std::string& file, const std::string& bytes) {
            ThrowIfError(s.Write(KeyOf(file), bytes));
          },
          NoGil())
      .def(
          "remove",
          [](Storage& s, const std::string& file) { ThrowIfError(s.Remove(KeyOf(file))); }, NoGil())
      .def("prune", &PruneStorage, NoGil());
  py::class_<RemoteStorage, Storage, std::shared_ptr<RemoteStorage>>(m, "_RemoteStorage")
      .def(py::init<std::string>())
      .def("next", &NextRequest)
      .def("close", &RemoteStorage::Close, NoGil())
      .def("finish", &FinishRequest, py::arg("id"), py::arg("bytes"), py::arg("error"),
           py::arg("missing"), py::arg("files"));
}

}  // namespace

void DefineCache(py::module_& m) {
  DefineStorage(m);
  m.def("_cache_directory", [](const std::string& path) -> std::shared_ptr<Storage> {
    return ValueOrThrow(cache::Directory::Open(path, cache::Directory::Reading::kLook));
  });
  m.def("_cache_decode", &Decode);
  m.def("_cache_stats", &Stats);
  m.def("_cache_explain", &Explain);
  m.def("_cache_set_tier2", [](const std::string& directory) {
    ThrowIfError(cache::Tiers::Get().SetTier2(directory));
  });
  m.def("_cache_set_tier3",
        [](const std::string& path) { ThrowIfError(cache::Tiers::Get().SetTier3(path)); });
  m.def("_cache_set_tier3_remote", [](const std::shared_ptr<RemoteStorage>& storage) {
    cache::Tiers::Get().SetTier3(storage);
  });
  m.def("_cache_tiers", [] {
    return std::make_pair(TierDescription(cache::Tiers::Get().tier2()),
                          TierDescription(cache::Tiers::Get().tier3()));
  });
  m.def("_cache_storage", [](int number) -> std::shared_ptr<Storage> {
    auto& tiers = cache::Tiers::Get();
    const auto tier = number == 2 ? tiers.tier2() : tiers.tier3();
    return tier == nullptr ? nullptr : tier->shared_storage();
  });
  m.def("_cache_tier2_directory", [] { return cache::Tier2Directory(env::Get()); });
  m.def("_cache_is_url", &cache::IsUrl);
  m.def("_cache_clear_tier1", [] {
    if (graph::Runtime::initialized()) {
      ValueOrThrow(graph::Runtime::Get())->compiler().ClearTier1();
    }
  });
  m.def(
      "_cache_flush",
      [](double seconds) {
        return cache::Tiers::Get().Flush(
            std::chrono::milliseconds(static_cast<int64_t>(1000 * seconds)));
      },
      NoGil());
  m.def("_set_compile_progress", [](const py::function& report) {
    // Never freed: the watching thread may outlive the interpreter's modules.
    auto* held = new py::function(report);
    graph::SetCompileProgress([held](const graph::CompileStretch& s) {
      py::gil_scoped_acquire gil;
      try {
        (*held)(s.started, s.done, s.seconds, s.over);
      } catch (py::error_already_set& error) {
        error.discard_as_unraisable("compile progress");
      }
    });
  });
  m.def("_lowering_version", [] { return std::string(graph::kLoweringVersion); });
  m.def("_set_frontend_version", &graph::SetFrontendVersion);
}

}  // namespace torch_tpu::bindings
