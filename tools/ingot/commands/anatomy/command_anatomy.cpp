// SPDX-License-Identifier: MIT
// `ingot anatomy FILE` -- the file byte by byte.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ingot/anatomy.hpp>
#include <ingot/text.hpp>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "cli/command.hpp"
#include "cli/table.hpp"
#include "cli/wrap.hpp"
#include "commands/json_members.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot anatomy model.gguf --limit 20\n"
    "  ingot anatomy model.gguf --section data\n"
    "  ingot anatomy model.gguf | less\n"
    "  ingot anatomy model.gguf --json | jq '.[] | select(.field == \"padding\")'\n"
    "\n"
    "Every byte of the file belongs to one field. Of long fields the first bytes are\n"
    "shown, then `..`. Of a model on a server, the bytes of weights are not fetched.";

struct Options {
  std::string file;
  std::optional<Section> section;
  std::uint64_t limit = 0;
};

constexpr std::size_t json_hex_bytes = 16;

/// A file of a model.
struct FileView {
  const Model& model;
  std::size_t file;
  bool is_remote;

  [[nodiscard]] const ModelFile& facts() const { return model.files()[file]; }
  /// Whether the bytes of a field are available. In a remote file, bytes beyond the part of the
  /// header that was read would cost a request for each field.
  [[nodiscard]] bool has(const Field& field) const {
    return !is_remote || (field.section != Section::data && field.name != "unread");
  }
};

/// The first bytes of a field in hexadecimal; none if they cannot be read.
std::string hex_text(const FileView& view, const Field& field, std::size_t most,
                     std::string_view separator) {
  std::array<std::byte, json_hex_bytes> bytes{};
  const auto size =
      static_cast<std::size_t>(std::min<std::uint64_t>({field.size_bytes, most, json_hex_bytes}));
  std::string text;
  const std::span<std::byte> target = std::span(bytes).first(size);
  if (!view.has(field) || !view.model.read_file_bytes(view.file, field.file_offset, target)) {
    return text;
  }
  for (const std::byte byte : target) {
    if (!text.empty()) text += separator;
    text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  }
  return text;
}

/// Counts fields per section and decides which are shown.
class Selection {
 public:
  explicit Selection(const Options& options) : options_(options) {}

  [[nodiscard]] bool takes(const Field& field) {
    if (options_.section && field.section != *options_.section) return false;
    const std::uint64_t count = ++counts_[field.section];
    return options_.limit == 0 || count <= options_.limit;
  }

 private:
  const Options& options_;
  std::map<Section, std::uint64_t> counts_;
};

/// Prints fields under a heading for each section and each key or tensor.
class Page {
 public:
  Page(Console& console, const FileView& view) : console_(console), view_(view) {
    for (std::uint64_t size = view.facts().file_bytes; size > 0xffff'ffff; size >>= 4) {
      ++offset_digits_;
    }
  }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  void show(const Field& field) {
    if (!section_ || *section_ != field.section) start_section(field.section);
    if (has_subject_heading(field) && field.subject != subject_) {
      subject_ = field.subject;
      const std::string text = "  " + escape_middle(subject_, console_.room(2));
      console_.print_line(Style::accent, text);
    }
    print_field(field);
  }

  void leave_out(const Field& field) {
    ++left_out_fields_;
    left_out_bytes_ += field.size_bytes;
  }

  /// Prints what the limit left out of the section that ends here.
  void end_section() {
    if (left_out_fields_ > 0) {
      console_.out().print(
          "  {}\n", console_.paint(Style::faint, fmt::format("... {} more field{}, {} bytes",
                                                             format_digits(left_out_fields_),
                                                             left_out_fields_ == 1 ? "" : "s",
                                                             format_digits(left_out_bytes_))));
    }
    left_out_fields_ = 0;
    left_out_bytes_ = 0;
  }

  [[nodiscard]] bool is_in(Section section) const { return section_ == section; }

 private:
  /// Whether the subject has a line of its own. In the data section a tensor is one field, so its
  /// name stands on the same line.
  static bool has_subject_heading(const Field& field) {
    return !field.subject.empty() &&
           (field.section == Section::metadata || field.section == Section::tensors);
  }

  void start_section(Section section) {
    end_section();
    section_ = section;
    subject_.clear();
    console_.print_line(Style::strong, name_of(section));
  }

  void print_field(const Field& field) {
    // Names of tensors need the room more than weights do.
    const bool is_data = field.section == Section::data;
    const bool is_narrow = console_.room(0) < 72;
    const std::size_t hex_bytes = is_data ? (is_narrow ? 2 : 4) : (is_narrow ? 3 : 8);
    const std::size_t hex_columns = 3 * hex_bytes - 1;
    const bool is_cut = field.size_bytes > hex_bytes;
    std::string hex = hex_text(view_, field, hex_bytes - (is_cut ? 1 : 0), " ");
    if (is_cut && !hex.empty()) hex += " ..";
    const std::string offset = fmt::format("{:0{}x}", field.file_offset, offset_digits_);
    const std::string name = padded(field.name, is_data ? 7 : 15);
    std::string line = "  " + console_.paint(Style::faint, offset) + "  " +
                       padded(hex, hex_columns) + "  " + name + " ";
    const std::size_t used = offset_digits_ + hex_columns + name.size() + 7;
    const std::size_t room = console_.room(used);
    line += meaning_of(field, room);
    line.erase(line.find_last_not_of(' ') + 1);
    console_.out().print("{}\n", line);
  }

  static std::string meaning_of(const Field& field, std::size_t room) {
    if (has_subject_heading(field) || field.subject.empty()) return shortened(field.meaning, room);
    const std::string meaning(field.meaning);
    const std::size_t taken = display_columns(meaning) + 2;
    const std::size_t name_room = room > taken + 12 ? room - taken : 12;
    return escape_middle(field.subject, name_room) + (meaning.empty() ? "" : ", " + meaning);
  }

  /// Text that is escaped already: cut before the room ends, and not within an escape.
  static std::string shortened(std::string_view text, std::size_t room) {
    if (display_columns(text) <= room) return std::string(text);
    std::size_t end = 0;
    std::size_t used = 0;
    while (end < text.size()) {
      std::size_t next = end + 1;
      if (text[end] == '\\' && next < text.size()) {
        if (text[next] == 'x')
          next = std::min(next + 3, text.size());
        else if (text[next] == 'u')
          next = std::min(text.find('}', next), text.size() - 1) + 1;
        else
          ++next;
      }
      while (next < text.size() && (text[next] & 0xc0) == 0x80) ++next;
      used += display_columns(text.substr(end, next - end));
      if (used + 3 > room) break;
      end = next;
    }
    return std::string(text.substr(0, end)) + "...";
  }

  Console& console_;
  const FileView& view_;
  std::size_t offset_digits_ = 8;
  std::optional<Section> section_;
  std::string subject_;
  std::uint64_t left_out_fields_ = 0;
  std::uint64_t left_out_bytes_ = 0;
};

void print_page(Console& console, const FileView& view, const Options& options) {
  Selection selection(options);
  Page page(console, view);
  visit_fields(view.model, view.file, [&](const Field& field) {
    if (selection.takes(field)) {
      page.show(field);
    } else if (page.is_in(field.section)) {
      page.leave_out(field);
    }
    return console.out().is_open();
  });
  page.end_section();
}

void write_fields(JsonStream& json, const FileView& view, const Options& options) {
  Selection selection(options);
  visit_fields(view.model, view.file, [&](const Field& field) {
    if (!selection.takes(field)) return json.is_open();
    json.begin_object(Layout::line);
    json.member("shard", view.facts().index);
    write_members(json, field);
    json.member("hex", hex_text(view, field, json_hex_bytes, ""));
    if (view.facts().is_indexed) json.member("verified", false);
    json.end();
    return json.is_open();
  });
}

ExitCode run(const Options& options, Console& console) {
  INGOT_CLI_TRY(const Model model, console.open_stored(options.file), console, options.file);
  if (const ForeignFile* foreign = console.foreign()) {
    return console.refuse(
        options.file,
        fmt::format("it is a {} file, and anatomy explains GGUF; `ingot show` and "
                    "`ingot tensors` say what is in it",
                    foreign->format),
        ExitCode::refused);
  }
  const std::size_t file_count = model.files().size();
  const bool is_remote = console.remote().opened_file(options.file).has_value();
  if (console.is_json()) {
    JsonStream json(console.out());
    json.begin_array();
    for (std::size_t file = 0; file < file_count; ++file) {
      write_fields(json, {model, file, is_remote}, options);
    }
    json.end();
    return ExitCode::done;
  }
  for (std::size_t file = 0; file < file_count; ++file) {
    if (file_count > 1) {
      console.out().print("{}{}\n", file == 0 ? "" : "\n",
                          console.paint(Style::strong, escape(model.files()[file].path)));
    }
    print_page(console, {model, file, is_remote}, options);
  }
  return ExitCode::done;
}

}  // namespace

void add_anatomy_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(program, "anatomy", "Explain a file byte by byte", examples);
  add_file(command, options->file);
  console.add_index_option(command);
  add_choice(command, "--section", "NAME", options->section,
             {{"header", Section::header},
              {"metadata", Section::metadata},
              {"tensors", Section::tensors},
              {"data", Section::data}},
             "Only this part of the file: {}");
  add_number(command, "--limit", options->limit, 1, 1'000'000'000'000,
             "At most N fields of each section; default: all");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
