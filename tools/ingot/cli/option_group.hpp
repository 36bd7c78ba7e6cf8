// SPDX-License-Identifier: MIT
// Options of every command that help lists apart, under a heading of their own.
#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace ingot::cli {

/// The heading of the options for remote files.
inline constexpr const char* remote_group = "Options for remote files";

/// Options that are declared while one of these is alive belong to the group.
class OptionGroup {
 public:
  OptionGroup(CLI::App& program, const char* heading);
  ~OptionGroup();
  OptionGroup(const OptionGroup&) = delete;
  OptionGroup& operator=(const OptionGroup&) = delete;

 private:
  CLI::App& program_;
  std::string usual_;
};

}  // namespace ingot::cli
