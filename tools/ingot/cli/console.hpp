// SPDX-License-Identifier: MIT
// Everything that all commands share: global options, output, messages, exit status. Commands
// print, fail and end through it, so none can break a rule of the command line.
#pragma once

#include <cstdint>
#include <ingot/error.hpp>
#include <ingot/import.hpp>
#include <ingot/model.hpp>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/console_terms.hpp"
#include "cli/output.hpp"
#include "cli/remote_models.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace ingot::cli {

class Console {
 public:
  Console();

  /// Declares `--json`, `--color` and the other options of every command.
  void add_options(CLI::App& program);

  enum class When : std::uint8_t { automatic, always, never };

  /// What these options say, but for those of remote models.
  struct Settings {
    OpenOptions open;
    std::optional<FileAccess> access;
    unsigned threads = 0;
    When color = When::automatic;
    When progress = When::automatic;
    bool is_json = false;
    bool is_quiet = false;
    bool never_waits = false;
    bool is_verbose = false;
  };
  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
  /// Goes back to settings after a command that another one has run.
  void restore(const Settings& settings);

  /// Fits what is printed to the terminal, if standard output is one and goes there.
  void examine_terminal(bool is_diverted);

  // --- input -------------------------------------------------------------------------------------

  /// Opens a model with the user's options; `-` is standard input. Remarks go to stderr. Files of
  /// other formats open as if they were GGUF; `foreign` then describes them. A model folder of
  /// Hugging Face opens as the model that its import would make, and `imported` describes it.
  [[nodiscard]] Result<Model> open_model(const std::string& file,
                                         FileAccess usual = FileAccess::map);

  /// The same of what is stored: of a model folder the weights alone. Without shards, one file of a
  /// set is a model of its own.
  [[nodiscard]] Result<Model> open_stored(const std::string& file,
                                          FileAccess usual = FileAccess::map,
                                          bool with_shards = true);

  /// The format of the file that was opened last; nullptr if it is GGUF.
  [[nodiscard]] const ForeignFile* foreign() const noexcept {
    return foreign_ ? &*foreign_ : nullptr;
  }

  /// The import that makes the model that was opened last; nullptr if it is no model folder.
  [[nodiscard]] const Import* imported() const noexcept { return imported_; }

  /// The models on servers, with their options.
  [[nodiscard]] RemoteModels& remote() noexcept { return remote_; }
  [[nodiscard]] const RemoteModels& remote() const noexcept { return remote_; }

  /// Whether a path is one of the files that were opened so far, under whatever name: no output may
  /// replace them.
  [[nodiscard]] bool is_input(const std::string& path) const;

  /// Declares `--index` for a command that only looks: files are then read through their index.
  void add_index_option(CLI::App& command);
  /// Makes later calls read files as a whole, without their index.
  void leave_index() noexcept { settings_.open.uses_index = false; }

  /// Facts for the next file from before GGUF, which lacks them.
  void set_ggml_options(const GgmlOptions& options) noexcept { ggml_options_ = options; }

  /// The user's options; `usual` is the access to files unless `--io` was given.
  [[nodiscard]] OpenOptions open_options(FileAccess usual) const;
  /// The user's options for opening files.
  [[nodiscard]] const OpenOptions& open_options() const noexcept { return settings_.open; }

  /// Prepares a pass over the data of a model on a server (RemoteModels::prepare); does nothing for
  /// one of this system. The first form is for some tensors, in the order in which they will be
  /// read, the second for all tensors, the third for all bytes of all files.
  [[nodiscard]] Result<void> before_reading(const std::string& file, const Model& model,
                                            std::span<const TensorInfo* const> tensors,
                                            std::uint64_t passes = 1);
  [[nodiscard]] Result<void> before_reading(const std::string& file, const Model& model,
                                            std::uint64_t passes = 1);
  [[nodiscard]] Result<void> before_reading_files(const std::string& file, const Model& model);

  [[nodiscard]] unsigned threads() const noexcept;

  // --- results -----------------------------------------------------------------------------------

  [[nodiscard]] Output& out() noexcept { return out_; }
  [[nodiscard]] bool is_json() const noexcept { return settings_.is_json; }

  /// Columns of the terminal, of COLUMNS, or 80.
  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  /// Whether lines longer than `width` would be a nuisance: not where a program reads them.
  [[nodiscard]] bool has_fixed_width() const noexcept { return has_fixed_width_; }
  /// Whether ornaments beyond ASCII can be shown.
  [[nodiscard]] bool is_unicode() const noexcept { return is_unicode_; }
  [[nodiscard]] bool is_terminal() const noexcept { return is_terminal_; }

  /// The columns that are left of a line of which `used` are taken, at least `least`; without end
  /// where a program reads, so that nothing is cut.
  [[nodiscard]] std::size_t room(std::size_t used, std::size_t least = 16) const noexcept;

  /// The columns that a part of a line may have, `usual` of them in a terminal.
  [[nodiscard]] std::size_t part(std::size_t usual) const noexcept {
    return has_fixed_width_ ? usual : room(0);
  }

  /// Prints a line; in a terminal as several lines, broken between words, of which all but the
  /// first begin with `indent` blanks. `text` must be safe to print; it may hold colours.
  void print_prose(std::string_view text, Style style = Style::plain, std::size_t indent = 4);

  /// Prints a line in a style.
  void print_line(Style style, std::string_view text) { out_.print("{}\n", paint(style, text)); }

  /// `text` in a style, if colours are wanted.
  [[nodiscard]] std::string paint(Style style, std::string_view text) const;

  // --- messages ----------------------------------------------------------------------------------

  [[nodiscard]] bool is_quiet() const noexcept { return settings_.is_quiet; }
  [[nodiscard]] bool is_verbose() const noexcept { return settings_.is_verbose; }
  [[nodiscard]] bool shows_progress() const noexcept;
  [[nodiscard]] bool always_shows_progress() const noexcept {
    return settings_.progress == When::always;
  }

  /// `ingot: FILE: message` on stderr; `message` must be safe to print. The second form is
  /// silenced by `--quiet`.
  void complain(std::string_view file, std::string_view message);
  void remark(std::string_view file, std::string_view message);

  /// Asks on the terminal whether to go on; no if there is none, or nothing is typed.
  [[nodiscard]] bool agrees(std::string_view file, std::string_view message);

  /// Complains, and returns the status.
  ExitCode refuse(std::string_view file, std::string_view message, ExitCode code = ExitCode::usage);
  /// Refuses an output that is one of the inputs.
  ExitCode refuse_input(std::string_view file);
  /// Prints an error and returns its status. An output that exists already is the subject of the
  /// error, or `file`.
  ExitCode fail(std::string_view file, const Error& error);
  /// Prints that a request makes no sense and returns the status; `message` says which request
  /// would.
  ExitCode refuse_usage(std::string_view message);

  // --- end ---------------------------------------------------------------------------------------

  void finish(ExitCode code) noexcept;
  /// The status so far, which is forgotten: for a command that runs others.
  [[nodiscard]] ExitCode take_status() noexcept {
    return std::exchange(exit_code_, ExitCode::done);
  }

  /// Runs `run_one` for each file; the highest status wins. Stops once the reader of the output has
  /// gone.
  template <class RunOne>
  void finish_all(std::span<const std::string> files, const RunOne& run_one) {
    for (const std::string& file : files) {
      if (!out_.is_open()) break;
      finish(run_one(file));
    }
  }

  /// Writes the remaining output and returns the status of the process.
  [[nodiscard]] int close();

 private:
  [[nodiscard]] Result<Model> open_named(const std::string& file, const OpenOptions& options);
  void apply_lock_wait();

  Output out_;
  Settings settings_;
  GgmlOptions ggml_options_;
  bool is_terminal_ = false;
  bool is_unicode_ = false;
  bool has_fixed_width_ = false;
  std::size_t width_ = 80;
  std::optional<ForeignFile> foreign_;
  std::vector<std::unique_ptr<Import>> imports_;  ///< They make models while these are read.
  const Import* imported_ = nullptr;
  RemoteModels remote_;
  std::vector<std::string> opened_paths_;
  std::set<std::string> remarked_;  ///< Remarks that need no repetition.
  ExitCode exit_code_ = ExitCode::done;
};

}  // namespace ingot::cli
