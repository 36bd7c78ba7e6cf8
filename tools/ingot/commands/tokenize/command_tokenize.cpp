// SPDX-License-Identifier: MIT
// `ingot tokenize MODEL TEXT` -- the ids of a text, by the tokenizer that the model carries.

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <ingot/error.hpp>
#include <ingot/projectors.hpp>
#include <ingot/text.hpp>
#include <ingot/token_stream.hpp>
#include <ingot/tokenizer.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_stream.hpp"
#include "cli/progress.hpp"
#include "cli/text_input.hpp"
#include "commands/image_facts.hpp"
#include "commands/json_members.hpp"
#include "text/vocabulary_facts.hpp"

namespace ingot::cli {
namespace {

enum class TokenForm : std::uint8_t { ids, count, pieces, offsets };

class TokenOutput {
 public:
  TokenOutput(Console& console, const Tokenizer& tokenizer, TokenForm form);

  /// Prints the tokens of a part; in JSON their texts follow at the end, so ids are kept.
  void add(const TokenizedPart& part);
  /// Prints the remaining tokens.
  void finish();

 private:
  void add_ids(const TokenizedPart& part);
  void add_pieces(const TokenizedPart& part);
  void add_offsets(const TokenizedPart& part);
  void finish_json();

  Console& console_;
  Output& out_;
  const Tokenizer& tokenizer_;
  TokenForm form_;
  bool has_color_;
  std::uint64_t count_ = 0;
  std::vector<TokenId> ids_;  // for JSON
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint64_t> ends_;
};

/// Colours of tokens side by side.
constexpr std::array styles = {Style::accent, Style::warning, Style::second, Style::good};

TokenOutput::TokenOutput(Console& console, const Tokenizer& tokenizer, TokenForm form)
    : console_(console),
      out_(console.out()),
      tokenizer_(tokenizer),
      form_(form),
      has_color_(console.paint(Style::accent, "x") != "x") {}

void TokenOutput::add(const TokenizedPart& part) {
  if (console_.is_json() && form_ != TokenForm::count) {
    ids_.insert(ids_.end(), part.ids.begin(), part.ids.end());
    for (const ByteRange& range : part.ranges) {
      begins_.push_back(part.begin + range.begin);
      ends_.push_back(part.begin + range.end);
    }
  } else if (form_ == TokenForm::ids) {
    add_ids(part);
  } else if (form_ == TokenForm::pieces) {
    add_pieces(part);
  } else if (form_ == TokenForm::offsets) {
    add_offsets(part);
  }
  count_ += part.ids.size();
}

void TokenOutput::add_ids(const TokenizedPart& part) {
  bool is_first = count_ == 0;
  for (const TokenId id : part.ids) {
    if (!is_first) out_.put(' ');
    is_first = false;
    const fmt::format_int digits(id);
    out_.write({digits.data(), digits.size()});
  }
}

void TokenOutput::add_pieces(const TokenizedPart& part) {
  std::uint64_t number = count_;
  for (const TokenId id : part.ids) {
    const std::string piece = tokenizer_.piece(id);
    if (has_color_) {
      out_.write(console_.paint(styles[number++ % styles.size()], escape(piece)));
      if (piece.ends_with('\n')) out_.put('\n');
    } else {
      out_.print("{}\n", escape(piece));
    }
  }
}

void TokenOutput::add_offsets(const TokenizedPart& part) {
  for (std::size_t i = 0; i < part.ids.size(); ++i) {
    const ByteRange range = part.ranges[i];
    out_.print("{}\t{}\t{}\t{}\n", part.ids[i], part.begin + range.begin, part.begin + range.end,
               escape(tokenizer_.piece(part.ids[i])));
  }
}

void TokenOutput::finish() {
  if (console_.is_json()) return finish_json();
  if (form_ == TokenForm::count) out_.print("{}\n", count_);
  const bool has_open_line = form_ == TokenForm::ids || (form_ == TokenForm::pieces && has_color_);
  if (has_open_line) out_.put('\n');
}

void TokenOutput::finish_json() {
  JsonStream json(out_);
  const auto object = json.object(Layout::line);
  if (form_ == TokenForm::count) return json.member("count", count_);
  json.values("ids", ids_);
  json.begin_array("pieces");
  for (const TokenId id : ids_) json.value(tokenizer_.piece(id));
  json.end();
  if (form_ == TokenForm::offsets) {
    const auto offsets = json.array("offsets");
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      const auto range = json.array();
      json.value(begins_[i]);
      json.value(ends_[i]);
    }
  }
}

constexpr const char* examples =
    "Examples:\n"
    "  ingot tokenize model.gguf 'Hello world'           # 1 15043 3186\n"
    "  ingot tokenize model.gguf 'Hello world' --pieces  # one colour a token\n"
    "  ingot tokenize model.gguf -f book.txt --count\n"
    "  git diff | ingot tokenize model.gguf - --count\n"
    "  ingot tokenize model.gguf '<|im_start|>user' --parse-special\n"
    "  ingot tokenize model.gguf --with mmproj.gguf --image-size 1024x768\n"
    "  ingot tokenize model.gguf --with mmproj.gguf --audio-seconds 12.5\n"
    "\n"
    "The ids are those of llama.cpp. The file decides whether bos and eos are added.\n"
    "TEXT is literal: \\n is two characters unless -e is given, and special tokens are\n"
    "plain text unless --parse-special is. Files are taken byte for byte, are read as\n"
    "they are needed, and all cores encode them; docs/tokenizers.md has the rules.";

struct Options {
  std::string file;
  std::optional<std::string> text;
  std::optional<std::string> input_file;
  std::optional<std::string> pre;
  std::string projector;
  std::optional<std::string> image_size;
  std::optional<std::string> audio_seconds;
  bool wants_ids = false;
  bool wants_count = false;
  bool wants_pieces = false;
  bool wants_offsets = false;
  bool is_without_special = false;
  bool parses_special = false;
  bool has_escapes = false;
};

/// One run of the command.
class Tokenize {
 public:
  Tokenize(const Options& options, Console& console) : options_(options), console_(console) {}

  ExitCode run() {
    if (const auto refused = refuse_options()) return *refused;
    INGOT_CLI_TRY(const Model model, console_.open_model(options_.file), console_, options_.file);
    const Result<Tokenizer> tokenizer =
        Tokenizer::make(model, {.pre_tokenizer = options_.pre ? *options_.pre : ""});
    if (!tokenizer) return fail_to_make(tokenizer.error());
    remark_on_pre_tokenizer(console_, options_.file, *tokenizer, options_.pre.has_value());
    if (!options_.projector.empty()) return count_medium(*tokenizer);
    INGOT_CLI_TRY(TextInput input, open_input(), console_, input_name());
    return encode(*tokenizer, input);
  }

 private:
  std::optional<ExitCode> refuse_options() {
    const auto refuse = [&](const char* message) { return console_.refuse_usage(message); };
    const int media =
        int{options_.image_size.has_value()} + int{options_.audio_seconds.has_value()};
    if (media != int{!options_.projector.empty()}) {
      return refuse("tokenize: --with and one of --image-size and --audio-seconds go together");
    }
    if (media > 0) {
      if (!options_.text && !options_.input_file) return std::nullopt;
      return refuse("tokenize: give a text or --with, not both");
    }
    if (options_.text && options_.input_file) {
      return refuse("tokenize: give TEXT or --file, not both");
    }
    if (!options_.text && !options_.input_file) {
      return refuse("tokenize: TEXT is missing; - reads standard input, --file a file");
    }
    if (input_name() == "-" && options_.file == "-") {
      return refuse("tokenize: only one of MODEL and TEXT can be standard input");
    }
    if (options_.has_escapes && (options_.input_file || *options_.text == "-")) {
      return refuse("tokenize: -e is for TEXT; files are taken as they are");
    }
    const int form_count = int{options_.wants_ids} + int{options_.wants_count} +
                           int{options_.wants_pieces} + int{options_.wants_offsets};
    if (form_count > 1) return refuse("tokenize: give one of --ids, --count, --pieces, --offsets");
    return std::nullopt;
  }

  ExitCode count_medium(const Tokenizer& tokenizer) {
    const std::string& file = options_.projector;
    if (!options_.image_size) {
      const Result<double> seconds = parse_seconds("--audio-seconds", *options_.audio_seconds);
      if (!seconds) return console_.refuse_usage("tokenize: " + seconds.error().detail);
      INGOT_CLI_TRY(const Model projector, console_.open_model(file), console_, file);
      INGOT_CLI_TRY(const ProjectorSounds sounds, ProjectorSounds::read(projector), console_, file);
      INGOT_CLI_TRY(const SoundTokens sound, sounds.count(*seconds), console_, file);
      return print_medium(tokenizer, sound, "sound");
    }
    const Result<ImagePixels> pixels = parse_image_size("--image-size", *options_.image_size);
    if (!pixels) return console_.refuse_usage("tokenize: --image-size: " + pixels.error().detail);
    INGOT_CLI_TRY(const Model projector, console_.open_model(file), console_, file);
    INGOT_CLI_TRY(const ProjectorImages images, ProjectorImages::read(projector), console_, file);
    INGOT_CLI_TRY(const ImageTokens image, images.count(pixels->width, pixels->height), console_,
                  file);
    return print_medium(tokenizer, image, "image");
  }

  /// Prints the tokens of an image or a sound: the states of the projector, and the texts around.
  template <class Medium>
  ExitCode print_medium(const Tokenizer& tokenizer, const Medium& medium, std::string_view what) {
    std::uint64_t marks = 0;
    for (const ImageMark& mark : medium.marks) {
      const EncodeOptions plain = {.add_special = false, .parse_special = true};
      INGOT_CLI_TRY(const std::size_t size, tokenizer.count(mark.text, plain), console_,
                    options_.projector);
      marks += mark.count * (mark.is_token ? 1 : size);
    }
    if (console_.is_json()) {
      JsonStream json(console_.out());
      const auto object = json.object();
      json.member("count", medium.tokens + marks);
      json.member("mark_tokens", marks);
      const auto described = json.object(what);
      write_members(json, medium);
    } else if (options_.wants_count) {
      console_.out().print("{}\n", medium.tokens + marks);
    } else {
      console_.out().print("{} tokens: {} of the {}, {} around it\n", medium.tokens + marks,
                           medium.tokens, what, marks);
    }
    return ExitCode::done;
  }

  ExitCode fail_to_make(const Error& error) {
    if (error.code != Errc::pre_tokenizer_unknown) return console_.fail(options_.file, error);
    if (!options_.pre) return console_.fail(options_.file, error);
    return console_.refuse_usage("tokenize: --pre: there is no pre-tokenizer \"" +
                                 escape_shortened(*options_.pre, 40) + "\"; \"gpt-2\" is one");
  }

  [[nodiscard]] std::string input_name() const {
    return options_.input_file ? *options_.input_file : options_.text == "-" ? "-" : "TEXT";
  }

  Result<TextInput> open_input() {
    if (options_.input_file) return TextInput::open(*options_.input_file);
    if (*options_.text == "-") return TextInput::open("-");
    if (std::error_code ignored; std::filesystem::is_regular_file(*options_.text, ignored)) {
      console_.remark(*options_.text,
                      "note: a file has this name; its name is taken as the text, "
                      "-f reads the file");
    }
    if (!options_.has_escapes) return TextInput::of_text(*options_.text);
    INGOT_TRY(std::string text, resolve_escapes(*options_.text));
    return TextInput::of_text(std::move(text));
  }

  [[nodiscard]] TokenForm form() const {
    if (options_.wants_count) return TokenForm::count;
    if (options_.wants_pieces) return TokenForm::pieces;
    if (options_.wants_offsets) return TokenForm::offsets;
    return TokenForm::ids;
  }

  ExitCode encode(const Tokenizer& tokenizer, TextInput& input) {
    TokenOutput output(console_, tokenizer, form());
    const std::uint64_t size = input.size_bytes();
    const Result<void> encoded =
        run_with_progress(console_, input_name(), size, [&](const GoOn& go_on) {
          return encode_stream(
              tokenizer, [&](std::span<char> buffer) { return input.read(buffer); },
              [&](const TokenizedPart& part) -> Result<void> {
                warn_of_double_bos(tokenizer, part);
                output.add(part);
                // Input of unknown size has no bar.
                const bool goes_on = go_on(size == 0 ? 0 : part.begin + part.text.size());
                if (goes_on && console_.out().is_open()) return {};
                return ingot::fail(Errc::interrupted, input_name());
              },
              {.add_special = !options_.is_without_special,
               .parse_special = options_.parses_special,
               .with_ranges = options_.wants_offsets,
               .thread_count = console_.threads()});
        });
    if (!console_.out().is_open()) return ExitCode::done;
    if (!encoded) return console_.fail(input_name(), encoded.error());
    output.finish();
    return ExitCode::done;
  }

  void warn_of_double_bos(const Tokenizer& tokenizer, const TokenizedPart& part) {
    const TokenId bos = tokenizer.special(SpecialToken::bos);
    if (part.begin != 0 || options_.is_without_special || part.ids.size() < 2) return;
    if (bos == no_token || part.ids[0] != bos || part.ids[1] != bos) return;
    console_.remark(options_.file,
                    "the text begins with the bos token, and the file adds another one; "
                    "--no-special adds none");
  }

  const Options& options_;
  Console& console_;
};

}  // namespace

void add_tokenize_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      add_command(program, "tokenize", "Turn a text into the token ids of a model", examples);
  add_file(command, options->file);
  add_argument(command, "TEXT", options->text, "The text, or - for standard input");
  add_text(command, "-f,--file", options->input_file, "FILE", "Read the text from a file");
  add_switch(command, "--ids", options->wants_ids, "Print the ids on one line (the default)");
  add_switch(command, "--count", options->wants_count, "Print how many there are");
  add_switch(command, "--pieces", options->wants_pieces,
             "Print the text of each token: a line each, or a colour each on a terminal");
  add_switch(command, "--offsets", options->wants_offsets,
             "Print id, first byte, end and text of each token");
  add_switch(command, "--no-special", options->is_without_special,
             "Add no bos, eos or separator, whatever the file says");
  add_switch(command, "--parse-special", options->parses_special,
             "Find special tokens in the text, too");
  add_switch(command, "-e,--escapes", options->has_escapes,
             "Read \\n, \\t, \\r, \\\\, \\', \\\" and \\xHH in TEXT as one character");
  add_text(command, "--with", options->projector, "FILE",
           "A projector: count the tokens of an image or a sound instead of a text");
  add_text(command, "--image-size", options->image_size, "SIZE",
           "Pixels of the image, like 1024x768");
  add_text(command, "--audio-seconds", options->audio_seconds, "N",
           "Seconds of the sound, like 12.5");
  add_text(command, "--pre", options->pre, "NAME",
           "Use this pre-tokenizer instead of the one that the file names");
  on_run(command, [options, &console] { console.finish(Tokenize(*options, console).run()); });
}

}  // namespace ingot::cli
