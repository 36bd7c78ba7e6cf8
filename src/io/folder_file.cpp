// SPDX-License-Identifier: MIT
#include "io/folder_file.hpp"

#include <cerrno>
#include <string_view>
#include <utility>

#include "io/file_descriptor.hpp"
#include "io/in_place_file.hpp"
#include "io/plain_file.hpp"
#include "system/files.hpp"

namespace ingot::io {
namespace {

/// A file or folder that was found and not opened, and its path with all links followed.
struct Place {
  FileDescriptor found;
  std::string path;
};

Result<Place> find_place(const std::string& path) {
  FileDescriptor found(system::open_place(path));
  if (!found.is_open()) return fail_with_errno(errno, {}, "open it");
  // The path of the descriptor, not of a file that may have this name a moment later.
  std::string real = system::path_of(found.get());
  if (real.empty()) real = real_path(path);  // a system without /proc
  return Place{std::move(found), std::move(real)};
}

bool is_below(std::string_view path, std::string_view folder) {
  if (folder == "/" || path == folder) return true;
  return path.starts_with(folder) && path.substr(folder.size()).starts_with('/');
}

/// Whether a path is REPOSITORY/blobs/NAME for a folder REPOSITORY/snapshots/REVISION or below.
bool is_blob_of(std::string_view path, std::string_view folder) {
  constexpr std::string_view snapshots = "/snapshots/";
  constexpr std::string_view blobs = "/blobs/";
  const std::size_t end = folder.rfind(snapshots);
  if (end == folder.npos || !path.starts_with(folder.substr(0, end))) return false;
  const std::string_view rest = path.substr(end);
  return rest.starts_with(blobs) && rest.find('/', blobs.size()) == rest.npos;
}

bool is_same(int a, int b) noexcept {
  system::FileFacts first;
  system::FileFacts second;
  return system::look_at(a, first) && system::look_at(b, second) && first.is_same_file(second);
}

std::string path_in(const std::string& folder, const std::string& name) {
  return folder.empty() || folder.ends_with('/') ? folder + name : folder + "/" + name;
}

Result<Place> find_in_folder(const std::string& folder, const std::string& name) {
  INGOT_TRY(const Place outer, find_place(folder.empty() ? "." : folder));
  INGOT_TRY(Place place, find_place(path_in(folder, name)));
  if (is_below(place.path, outer.path) || is_blob_of(place.path, outer.path)) return place;
  return fail(Errc::import_refused, {},
              "a link leads out of the folder, to \"" + place.path +
                  "\"; put the file itself there if you trust it");
}

}  // namespace

Result<std::unique_ptr<Source>> open_in_folder(const Store& store, const std::string& folder,
                                               const std::string& name) {
  if (&store != &file_system()) return store.open(path_in(folder, name));
  INGOT_TRY(const Place place, find_in_folder(folder, name));
  INGOT_TRY(RegularFile file, open_regular(place.path));
  if (!is_same(file.descriptor.get(), place.found.get())) return fail(Errc::file_changed, {});
  return read_descriptor(std::move(file));
}

Result<std::unique_ptr<Source>> open_found(const Store& store, const std::string& path) {
  const std::size_t begin = path.rfind('/') + 1;
  return open_in_folder(store, path.substr(0, begin), path.substr(begin));
}

Result<void> check_in_folder(const Store& store, const std::string& folder,
                             const std::string& name) {
  if (&store != &file_system()) return {};
  const Result<Place> place = find_in_folder(folder, name);
  const bool leads_out = !place && place.error().code == Errc::import_refused;
  return leads_out ? Result<void>(fail(place.error())) : Result<void>();
}

}  // namespace ingot::io
