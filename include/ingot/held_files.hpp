// SPDX-License-Identifier: MIT
// Read the files of a model and remove exactly those.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"

namespace ingot {

/// The files of a model, held from before the model is opened until they are removed, so that
/// exactly the files that were read are removed.
///
///   Result<HeldFiles> held = HeldFiles::of(path);      // shared locks: nobody edits the files
///   Result<Model> model = Model::open(path);           // read them under the locks
///   ... write what is to replace them ...
///   for (const Error& error : held->remove(*model)) complain(error);
///
/// If there are many files, only some are locked, as a process may have few descriptors. The state
/// of each is recorded, so that a change by any program is noticed.
class INGOT_EXPORT HeldFiles {
 public:
  /// The files of the model at a path. Errc::file_in_use as `lock_wait` says; errors of opening it.
  [[nodiscard]] static Result<HeldFiles> of(const std::string& path);

  HeldFiles(HeldFiles&&) noexcept;
  HeldFiles& operator=(HeldFiles&&) = delete;
  ~HeldFiles();

  /// Removes all files of the model. The first file goes first, as no program takes files without
  /// it for a set. If a file has changed since it was held, or another process uses it, all files
  /// stay. Returns an error for each such file and for each that could not be removed:
  /// Errc::file_changed, Errc::file_in_use, Errc::io_error. Call it once.
  [[nodiscard]] std::vector<Error> remove(const Model& model);

 private:
  struct State;
  explicit HeldFiles(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace ingot
