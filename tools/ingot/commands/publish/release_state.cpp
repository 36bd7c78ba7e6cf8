// SPDX-License-Identifier: MIT
#include "commands/publish/release_state.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <ingot/output_file.hpp>
#include <ingot/text.hpp>
#include <utility>

#include "cli/json_stream.hpp"
#include "cli/model_files.hpp"
#include "commands/output_name.hpp"
#include "text/chat_json.hpp"
#include "text/report_file.hpp"
#include "text/whole_file.hpp"

namespace ingot::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kind = "ingot publish";

/// Removes a file that is as it was made; what somebody has changed stays.
Result<void> remove_made(const ReleaseState::Made& file) {
  if (stamp_of(file.path) != file.stamp) return {};
  std::error_code error;
  fs::remove(file.path, error);
  if (!error) return {};
  return fail(Errc::io_error, file.path, "cannot remove it: " + error.message());
}

}  // namespace

Result<ReleaseState> ReleaseState::read(const std::string& folder) {
  ReleaseState state;
  state.path_ = path_of(folder);
  std::error_code error;
  if (!fs::exists(state.path_, error)) return state;
  INGOT_TRY(const std::string content, read_whole(state.path_, max_list_bytes));
  const auto document = parse_chat_json(content);
  const ChatValue* const steps = document ? document->find("steps") : nullptr;
  if (steps == nullptr || steps->elements() == nullptr || text_of(document->find("kind")) != kind) {
    return fail(Errc::invalid_argument, state.path_,
                "this is no state of `ingot publish`, which keeps its own here; move it away");
  }
  state.is_begun_ = true;
  for (const ChatValue& entry : *steps->elements()) {
    Step step{.inputs = text_of(entry.find("inputs")), .files = {}};
    const ChatValue* const files = entry.find("files");
    if (files != nullptr && files->elements() != nullptr) {
      for (const ChatValue& file : *files->elements()) {
        const std::string name = text_of(file.find("file"));
        // A name without a folder: nothing else is ever removed.
        if (name.empty() || name.find('/') != name.npos) continue;
        step.files.push_back({folder + "/" + name, text_of(file.find("stamp"))});
      }
    }
    state.steps_.insert_or_assign(text_of(entry.find("step")), std::move(step));
  }
  return state;
}

std::string ReleaseState::reason_to_run(const std::string& step, std::string_view inputs) const {
  const auto found = steps_.find(step);
  if (found == steps_.end()) return "new";
  if (found->second.inputs != inputs) return "its inputs changed";
  for (const Made& file : found->second.files) {
    const std::string stamp = stamp_of(file.path);
    if (stamp == file.stamp) continue;
    const std::string name = escape(name_of_file(file.path));
    return name + (stamp.empty() ? " is missing" : " was changed");
  }
  return {};
}

std::vector<std::string> ReleaseState::files_of(const std::string& step) const {
  std::vector<std::string> paths;
  const auto found = steps_.find(step);
  if (found == steps_.end()) return paths;
  for (const Made& file : found->second.files) paths.push_back(file.path);
  return paths;
}

std::vector<std::string> ReleaseState::other_files(const std::string& folder) const {
  std::vector<std::string> made;
  for (const auto& [name, step] : steps_) {
    for (const Made& file : step.files) made.push_back(name_of_file(file.path));
  }
  std::vector<std::string> others;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().generic_string();
    if (std::ranges::count(made, name) == 0) others.push_back(name);
  }
  std::ranges::sort(others);
  return others;
}

Result<void> ReleaseState::record(const std::string& step, const std::string& inputs,
                                  const std::vector<std::string>& files) {
  Step& known = steps_[step];
  for (const Made& file : known.files) {
    if (std::ranges::count(files, file.path) > 0) continue;
    INGOT_TRY_VOID(remove_made(file));
  }
  known = {inputs, {}};
  for (const std::string& path : files) known.files.push_back({path, stamp_of(path)});
  return write();
}

Result<void> ReleaseState::keep_only(const std::vector<std::string>& steps) {
  for (auto step = steps_.begin(); step != steps_.end();) {
    if (std::ranges::count(steps, step->first) > 0) {
      ++step;
      continue;
    }
    for (const Made& file : step->second.files) INGOT_TRY_VOID(remove_made(file));
    step = steps_.erase(step);
  }
  return {};
}

Result<void> ReleaseState::write() const {
  INGOT_TRY(OutputFile file, OutputFile::create(path_, true));
  INGOT_TRY_VOID(print_to(file, [&](Output& out) {
    JsonStream json(out);
    const auto object = json.object();
    json.member("kind", kind);
    json.objects("steps", steps_, [&](const auto& entry) {
      json.member("step", entry.first);
      json.member("inputs", entry.second.inputs);
      json.objects("files", entry.second.files, [&](const Made& made) {
        json.member("file", name_of_file(made.path));
        json.member("stamp", made.stamp);
      });
    });
  }));
  return file.commit();
}

}  // namespace ingot::cli
