// SPDX-License-Identifier: MIT
// The console of a module: the commands of the program run with it, and print JSON into memory.
//
// It stands in for that of the program, whose name it has. As `is_json` is a constant, the linker
// drops what writes for people.
#pragma once

#include <ingot/error.hpp>
#include <ingot/model.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console_terms.hpp"
#include "cli/output.hpp"
#include "cli/remote_models.hpp"

namespace CLI {

/// A command: what it declares, by the long names of its options and the names of its arguments.
class App {
 public:
  /// Takes the value of an option; returns what is wrong with it, or nothing.
  using Take = std::function<std::string(const std::string& value)>;

  void add(const std::string& name, Take take);
  /// Gives an option its value; returns what is wrong, or nothing.
  [[nodiscard]] std::string set(const std::string& name, const std::string& value) const;

  std::function<void()> run;

 private:
  std::map<std::string, Take> options_;
};

class Option {};

}  // namespace CLI

namespace ingot::cli {

/// What the commands ask of the network: nothing, the host fetches what is missing.
class WebModels {
 public:
  explicit WebModels(const bool& is_remote) noexcept : is_remote_(is_remote) {}

  [[nodiscard]] std::optional<RemoteFileName> opened_file(const std::string& file) const {
    return is_remote_ ? std::optional(RemoteFileName{file, {}}) : std::nullopt;
  }
  [[nodiscard]] static const std::string& plain_name(const std::string& file) noexcept {
    return file;
  }

 private:
  const bool& is_remote_;
};

class Console {
 public:
  Console()
      : out_([this](std::string_view text) {
          printed_.append(text);
          return 0;
        }) {}

  [[nodiscard]] Result<Model> open_model(const std::string& file, FileAccess = {}) {
    return Model::open(file, open_options_);
  }
  [[nodiscard]] Result<Model> open_stored(const std::string& file, FileAccess = {}) {
    return Model::open(file, open_options_);
  }
  [[nodiscard]] const ForeignFile* foreign() const noexcept { return nullptr; }
  [[nodiscard]] WebModels remote() const noexcept { return WebModels(is_remote_); }
  [[nodiscard]] const OpenOptions& open_options() const noexcept { return open_options_; }
  [[nodiscard]] unsigned threads() const noexcept { return 1; }
  void add_index_option(CLI::App& command);
  /// A call is about one file.
  template <class Use>
  void finish_all(const std::vector<std::string>&, const Use&) {}
  void leave_index() noexcept { open_options_.uses_index = false; }
  template <class... Arguments>
  [[nodiscard]] Result<void> before_reading(const Arguments&...) {
    return {};
  }

  [[nodiscard]] Output& out() noexcept { return out_; }
  [[nodiscard]] static constexpr bool is_json() noexcept { return true; }
  [[nodiscard]] std::size_t width() const noexcept { return 80; }
  [[nodiscard]] bool has_fixed_width() const noexcept { return false; }
  [[nodiscard]] bool is_unicode() const noexcept { return true; }
  [[nodiscard]] bool is_terminal() const noexcept { return false; }
  [[nodiscard]] std::size_t room(std::size_t, std::size_t least = 16) const noexcept {
    return least;
  }
  void print_prose(std::string_view, Style = Style::plain, std::size_t = 4) {}
  void print_line(Style, std::string_view) {}
  [[nodiscard]] std::string paint(Style, std::string_view text) const { return std::string(text); }

  void complain(std::string_view, std::string_view message) { message_ = message; }
  void remark(std::string_view, std::string_view) {}
  ExitCode refuse(std::string_view, std::string_view message, ExitCode code = ExitCode::usage) {
    message_ = message;
    return code;
  }
  ExitCode refuse_usage(std::string_view message) { return refuse({}, message); }
  ExitCode fail(std::string_view, const Error& error) {
    error_ = error;
    return ExitCode::refused;
  }
  void finish(ExitCode code) noexcept { code_ = code; }

  // --- for the module that runs a command
  // ---------------------------------------------------------

  void set_opening(bool is_remote, const OpenOptions& options) noexcept {
    is_remote_ = is_remote;
    open_options_ = options;
  }
  /// The document.
  [[nodiscard]] std::string take_printed() {
    static_cast<void>(out_.flush());
    return std::move(printed_);
  }
  [[nodiscard]] ExitCode code() const noexcept { return code_; }
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }

 private:
  std::string printed_;
  Output out_;
  OpenOptions open_options_{.access = FileAccess::read};
  bool is_remote_ = false;
  ExitCode code_ = ExitCode::done;
  std::optional<Error> error_;
  std::string message_;
};

}  // namespace ingot::cli
