// SPDX-License-Identifier: MIT
// Model folders of the reference converter with what it made of them.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/shared_files.hpp"

namespace ingot::test {

struct GoldenFolder {
  std::string name;              ///< The name of the case.
  std::filesystem::path folder;  ///< The input.
  nlohmann::json expected;
};

[[nodiscard]] inline std::filesystem::path golden_folder_cases() {
  return shared_folder() / "golden/hf/cases";
}

/// Cases of the classes that came later. The key of an output may have options before a colon.
[[nodiscard]] inline std::filesystem::path later_golden_folder_cases() {
  return shared_folder() / "golden/hf2/cases";
}

[[nodiscard]] inline GoldenFolder read_golden_folder(const std::filesystem::path& place) {
  GoldenFolder golden;
  golden.name = place.filename().string();
  std::ifstream file(place / "expected.json");
  std::string text(std::istreambuf_iterator<char>(file), {});
  // Python writes infinity so, which is no JSON; what tests compare are digests.
  for (std::size_t at = 0; (at = text.find("-Infinity", at)) != text.npos;) {
    text.replace(at, 9, "null");
  }
  golden.expected = nlohmann::json::parse(text);
  golden.folder = place / golden.expected["input"].get<std::string>();
  return golden;
}

/// All of a kind: "lora", or "" for models.
[[nodiscard]] inline std::vector<GoldenFolder> golden_folders(
    const std::string& kind, const std::filesystem::path& cases = golden_folder_cases()) {
  std::vector<GoldenFolder> folders;
  for (const auto& entry : std::filesystem::directory_iterator(cases)) {
    GoldenFolder golden = read_golden_folder(entry.path());
    if (golden.expected.value("kind", "") == kind) folders.push_back(std::move(golden));
  }
  return folders;
}

}  // namespace ingot::test
