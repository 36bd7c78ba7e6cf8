// SPDX-License-Identifier: MIT
// Models on servers.
#include <ingot/download.hpp>
#include <ingot/local_models.hpp>
#include <ingot/remote.hpp>
#include <ingot/remote_cache.hpp>

#include "python_facts.hpp"
#include "python_options.hpp"

namespace ingot::python {
namespace {

std::shared_ptr<OpenModel> open_reference(const std::string& reference, bool is_lenient,
                                          bool is_header_only, bool uses_index,
                                          const py::dict& limits) {
  OpenAnyOptions options;
  options.gguf.is_lenient = is_lenient;
  options.gguf.is_header_only = is_header_only;
  options.gguf.uses_index = uses_index;
  options.gguf.limits = options_from<Limits>(limits);
  RemoteOptions remote = remote_options();
  RemoteModel model = run(py::none(), [&](const Report& report) {
    // A copy: the store asks as long as it reads.
    remote.should_stop = [report] { return !report(0); };
    return open_remote(reference, remote, options);
  });
  auto store = std::make_shared<RemoteStore>(std::move(model.store));
  return std::make_shared<OpenModel>(OpenModel{std::move(store), std::move(model.opened)});
}

/// The files of a repository: name, bytes, sha256, path on this system.
py::list list_repository(const std::string& reference) {
  RemoteOptions remote = remote_options();
  const RemoteStore store = run(py::none(), [&](const Report& report) -> Result<RemoteStore> {
    remote.should_stop = [report] { return !report(0); };
    INGOT_TRY(const Reference parsed, parse_reference(reference));
    return RemoteStore::open_repository(parsed, remote);
  });
  return list_of(store.files(), [](const RemoteFile& file) {
    return py::make_tuple(to_str(file.name), file.size_bytes, file.sha256, to_str(file.local_path));
  });
}

/// Fetches the files of a model.
py::list download_model(const std::string& reference, const py::str& folder, unsigned connections,
                        bool may_replace, const py::object& progress) {
  const std::string prefix = to_bytes(folder) + "/";
  RemoteOptions remote = remote_options();
  struct Fetched {
    std::string name, path;
    DownloadedFile file;
  };
  std::vector<Fetched> files;
  run(progress, [&](const Report& report) -> Result<void> {
    remote.should_stop = [report] { return !report(0); };
    INGOT_TRY(const Reference parsed, parse_reference(reference));
    INGOT_TRY(const RemoteStore store, RemoteStore::open(parsed, remote));
    std::uint64_t before = 0;
    DownloadOptions options{connections, may_replace, {}};
    options.progress = [&](std::uint64_t done, std::uint64_t) { return report(before + done); };
    for (const RemoteFile& file : store.model_files()) {
      INGOT_TRY(std::string name, local_name(file.name));
      INGOT_TRY(DownloadedFile got, download(store, file.name, prefix + name, options));
      before += got.size_bytes;
      files.push_back({file.name, prefix + name, std::move(got)});
    }
    return {};
  });
  return list_of(files, [](const Fetched& fetched) {
    py::dict row = facts_of(fetched.file);
    row["name"] = to_str(fetched.name);
    row["path"] = to_str(fetched.path);
    return row;
  });
}

}  // namespace

void add_remote(py::module_& module) {
  module.def("open_remote", &open_reference);
  module.def("list_repository", &list_repository);
  module.def("list_local_models", [](const std::vector<std::string>& folders) {
    LocalStores stores;
    stores.folders = folders;
    return fact_of(list_local_models(folders.empty() ? local_stores() : stores));
  });
  module.def("download", &download_model);
  module.def("remote_cache_folder", [] { return to_str(remote_cache_folder()); });
  module.def("list_remote_cache", [] { return fact_of(list_remote_cache(remote_cache_folder())); });
  module.def("clear_remote_cache", [] { return take(clear_remote_cache(remote_cache_folder())); });
  module.def("is_remote_reference",
             [](const py::str& text) { return is_remote_reference(to_bytes(text)); });
}

}  // namespace ingot::python
