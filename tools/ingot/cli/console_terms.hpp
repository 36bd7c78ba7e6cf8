// SPDX-License-Identifier: MIT
// What commands say to a console, that of the program and that of the modules of the web.
#pragma once

#include <cstdint>
#include <ingot/error.hpp>
#include <ingot/interop.hpp>
#include <string>
#include <string_view>
#include <vector>

/// `declaration = expression`; if that is an error, the function returns console.fail(file, error).
#define INGOT_CLI_TRY(declaration, expression, console, file)                     \
  INGOT_TRY_(declaration, expression, INGOT_CONCATENATE(ingot_result_, __LINE__), \
             (console).fail(file, INGOT_CONCATENATE(ingot_result_, __LINE__).error()))

#define INGOT_CLI_TRY_VOID(expression, console, file)            \
  do {                                                           \
    if (const auto ingot_result_ = (expression); !ingot_result_) \
      return (console).fail(file, ingot_result_.error());        \
  } while (false)

namespace ingot::cli {

/// The exit codes of the process. Over several files the highest wins.
enum class ExitCode : std::uint8_t {
  done = 0,
  negative = 1,  ///< The answer is "no": a difference, a finding, nothing that matches.
  usage = 2,
  refused = 3,  ///< The input is malformed or unsupported.
  system = 4,   ///< I/O, memory, disk full.
  interrupted = 130,
};

/// The styles; each has a row in style_starts.
enum class Style : std::uint8_t {
  plain,
  strong,
  faint,
  accent,  ///< The first colour of a drawing.
  second,
  third,
  fourth,
  good,
  warning,
  bad
};

/// A file of another format than GGUF that was opened as a model.
struct ForeignFile {
  std::string_view format;  ///< "bump"
  std::uint64_t file_bytes = 0;
  std::vector<FileFact> facts;
  std::vector<std::string> paths;
  std::vector<std::uint64_t> data_offsets;
};

}  // namespace ingot::cli
