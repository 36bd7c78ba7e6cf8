// SPDX-License-Identifier: MIT
// `ingot plan-upload FILE... --against OLD...` -- how much of an upload would be new.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <filesystem>
#include <ingot/output_file.hpp>
#include <ingot/text.hpp>
#include <ingot/upload_plan.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/model_files.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "commands/json_members.hpp"
#include "commands/plan_upload/planned_upload.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot plan-upload new.gguf --against old.gguf\n"
    "  ingot plan-upload model-Q5_K_M.gguf --against model-Q4_K_M.gguf model-Q6_K.gguf\n"
    "  ingot plan-upload repository --against ~/uploaded --json\n"
    "  ingot plan-upload repository -o uploaded.chunks\n"
    "  ingot plan-upload repository --against uploaded.chunks\n"
    "  ingot quantize m-F16.gguf --to Q4_K_S --dry-run --json | \\\n"
    "      ingot plan-upload --plan - --against m-F16.gguf m-Q4_K_M.gguf\n"
    "\n"
    "Hugging Face stores files in Xet: in chunks of 8 to 128 KiB, each once, whatever\n"
    "file it is from. The command cuts files into the same chunks, all bytes are\n"
    "read, and says how many bytes are in none of the chunks of --against. Files may\n"
    "be of any format; of a folder all count, but hidden ones. Bytes are counted\n"
    "before the compression of the upload. Of files that are not made yet --plan\n"
    "counts tensors: what is taken over from a model of --against is known, and what\n"
    "has name, type and shape of a tensor there is likely to be.";

struct Options {
  std::vector<std::string> files;
  std::string plan;
  std::vector<std::string> against;
  std::string out;
  bool is_forced = false;
};

std::string share_of(std::uint64_t part, std::uint64_t whole) {
  if (part == 0 || part == whole) return part == 0 ? "0 %" : "100 %";
  return fmt::format("{:.2f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

void print_page(Console& console, const UploadPlan& plan) {
  const std::vector<Column> columns = {{"file", Align::left, Narrow::shorten},
                                       {"size", Align::right, Narrow::hide},
                                       {"known", Align::right, Narrow::hide},
                                       {"repeated", Align::right, Narrow::hide},
                                       {"new", Align::right},
                                       {"share", Align::right}};
  print_table(console, columns, plan.files.size(),
              [&](std::size_t i, std::span<std::string> cells) {
                const UploadFile& file = plan.files[i];
                cells[0] = escape(file.path);
                cells[1] = format_bytes(file.bytes.size_bytes);
                cells[2] = format_bytes(file.bytes.known_bytes);
                cells[3] = format_bytes(file.bytes.repeated_bytes);
                cells[4] = format_bytes(file.bytes.new_bytes);
                cells[5] = share_of(file.bytes.new_bytes, file.bytes.size_bytes);
              });
  console.out().print("New are {} of {} bytes ({}), in {} xorb{}.\n",
                      format_digits(plan.total.new_bytes), format_digits(plan.total.size_bytes),
                      share_of(plan.total.new_bytes, plan.total.size_bytes),
                      format_digits(plan.xorbs.size()), plan.xorbs.size() == 1 ? "" : "s");
}

void print_planned_page(Console& console, const std::vector<PlannedFile>& files) {
  const std::vector<Column> columns = {{"file", Align::left, Narrow::shorten},
                                       {"size", Align::right, Narrow::hide},
                                       {"known", Align::right, Narrow::hide},
                                       {"repeated", Align::right, Narrow::hide},
                                       {"likely", Align::right, Narrow::hide},
                                       {"new", Align::right},
                                       {"share", Align::right}};
  print_table(console, columns, files.size(), [&](std::size_t i, std::span<std::string> cells) {
    const auto& [name, bytes, likely_bytes] = files[i];
    cells[0] = escape(name);
    cells[1] = format_bytes(bytes.size_bytes);
    cells[2] = format_bytes(bytes.known_bytes);
    cells[3] = format_bytes(bytes.repeated_bytes);
    cells[4] = format_bytes(likely_bytes);
    cells[5] = format_bytes(bytes.new_bytes);
    cells[6] = share_of(bytes.new_bytes, bytes.size_bytes);
  });
}

ExitCode run_planned(const Options& options, Console& console) {
  if (!options.files.empty() || !options.out.empty()) {
    return console.refuse_usage(
        "plan-upload: --plan is for files that are not there; FILE and -o "
        "are for others");
  }
  std::vector<PlannedFile> files;
  const ExitCode code = plan_planned(console, options.plan, options.against, files);
  if (code != ExitCode::done) return code;
  if (console.is_json()) {
    JsonStream json(console.out());
    json.objects(files, [&](const PlannedFile& file) {
      json.member("file", file.name);
      write_members(json, file.bytes);
      json.member("likely", file.likely_bytes);
    });
  } else if (!console.is_quiet()) {
    print_planned_page(console, files);
  }
  return ExitCode::done;
}

/// Writes the chunks of all files, new or not, in the form that --against reads.
Result<void> write_chunks(const UploadPlan& plan, OutputFile& file) {
  Result<void> written;
  Output out([&](std::string_view text) {
    written = file.write(std::as_bytes(std::span(text)));
    return written ? 0 : EIO;
  });
  out.print("{}\n", chunk_list_heading);
  for (const UploadFile& upload : plan.files) {
    out.print("# file {} : {}\n", name_of(upload.hash), upload.bytes.size_bytes);
    for (const XetChunk& chunk : upload.chunks) {
      out.print("{} : {}\n", name_of(chunk.hash), chunk.size_bytes);
    }
  }
  out.flush();
  INGOT_TRY_VOID(written);
  return file.commit();
}

/// The size of all files that will be read; those that cannot be are the work's to refuse.
std::uint64_t bytes_of(const std::vector<std::string>& files) {
  std::uint64_t sum = 0;
  for (const std::string& path : files) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (!error) sum += size;
  }
  return sum;
}

ExitCode run(const Options& options, Console& console) {
  if (!options.plan.empty()) return run_planned(options, console);
  if (options.files.empty()) return console.refuse_usage("plan-upload: FILE or --plan is missing");
  INGOT_CLI_TRY(const std::vector<std::string> files, files_to_upload(options.files), console,
                "plan-upload");
  INGOT_CLI_TRY(const std::vector<std::string> against, files_to_upload(options.against), console,
                "plan-upload");
  std::optional<OutputFile> list;
  if (!options.out.empty()) {
    for (const auto* paths : {&files, &against}) {
      for (const std::string& path : *paths) {
        if (is_same_file(path, options.out)) {
          return console.refuse(options.out, "it is an input; the list must be another file");
        }
      }
    }
    INGOT_CLI_TRY(list, OutputFile::create(options.out, options.is_forced), console, options.out);
  }
  const std::uint64_t total_bytes = bytes_of(files) + bytes_of(against);
  INGOT_CLI_TRY(const UploadPlan plan,
                run_with_progress(console, "plan-upload", total_bytes,
                                  [&](const GoOn& go_on) {
                                    return plan_upload(files, {.against = against,
                                                               .thread_count = console.threads(),
                                                               .progress = go_on});
                                  }),
                console, "plan-upload");
  if (list) INGOT_CLI_TRY_VOID(write_chunks(plan, *list), console, options.out);
  if (console.is_json()) {
    JsonStream json(console.out());
    const auto object = json.object();
    write_members(json, plan);
  } else if (!console.is_quiet()) {
    print_page(console, plan);
  }
  return ExitCode::done;
}

}  // namespace

void add_plan_upload_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(program, "plan-upload",
                                  "Say how much of an upload to Hugging Face is new", examples);
  add_argument(command, "FILE", options->files, "Files of any format, or folders");
  add_text(command, "--plan", options->plan, "PLAN",
           "Instead of FILE: what `quantize` or `edit` print with --dry-run --json");
  add_texts(command, "--against", options->against, "OLD",
            "What the storage has: files, folders, or lists that -o wrote; for --plan models, or "
            "manifests of `ingot hash`")
      ->allow_extra_args();
  add_text(command, "-o,--output", options->out, "LIST",
           "Write the chunks of all FILEs to a list, for --against");
  add_switch(command, "--force", options->is_forced, "Replace LIST if it exists");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
