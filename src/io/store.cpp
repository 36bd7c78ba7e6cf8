// SPDX-License-Identifier: MIT
#include "ingot/store.hpp"

#include <cerrno>
#include <utility>

#include "io/file_descriptor.hpp"
#include "system/files.hpp"

namespace ingot {
namespace {

class FileSystem final : public Store {
 public:
  [[nodiscard]] Result<std::unique_ptr<Source>> open(const std::string& name) const override {
    return read_file(name);
  }

  [[nodiscard]] Result<std::vector<std::string>> list(const std::string& folder) const override {
    const std::string prefix = folder.empty() || folder.ends_with('/') ? folder : folder + "/";
    std::vector<std::string> names;
    const auto take = [&](const char* name) { names.push_back(prefix + name); };
    if (system::list_names(folder.empty() ? "." : folder, take)) return names;
    return io::fail_with_errno(errno, folder, "list the folder");
  }
};

}  // namespace

Store::~Store() = default;

std::string Store::locate(const std::string& name) const { return name; }

const Store& file_system() noexcept {
  static const FileSystem system;
  return system;
}

void MemoryStore::add(std::string name, std::span<const std::byte> bytes) {
  files_.insert_or_assign(std::move(name), bytes);
}

Result<std::unique_ptr<Source>> MemoryStore::open(const std::string& name) const {
  const auto file = files_.find(name);
  if (file != files_.end()) return borrow_memory(file->second);
  if (list(name)) return fail(Errc::not_a_regular_file, {}, "it is a folder");
  return fail(Errc::io_error, {}, "there is no file of this name in memory");
}

Result<std::vector<std::string>> MemoryStore::list(const std::string& folder) const {
  const std::string prefix = folder.empty() || folder.ends_with('/') ? folder : folder + "/";
  std::vector<std::string> names;
  bool is_folder = folder.empty();
  for (auto file = files_.lower_bound(prefix);
       file != files_.end() && file->first.starts_with(prefix); ++file) {
    is_folder = true;
    if (file->first.find('/', prefix.size()) == std::string::npos) names.push_back(file->first);
  }
  if (!is_folder) return fail(Errc::io_error, folder, "there is no folder of this name in memory");
  return names;
}

}  // namespace ingot
