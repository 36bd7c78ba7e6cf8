// SPDX-License-Identifier: MIT
// Model folders of the reference converter with what it made of them.
#pragma once

#include <filesystem>
#include <fstream>
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

[[nodiscard]] inline GoldenFolder read_golden_folder(const std::filesystem::path& place) {
  GoldenFolder golden;
  golden.name = place.filename().string();
  std::ifstream file(place / "expected.json");
  golden.expected = nlohmann::json::parse(file);
  golden.folder = place / golden.expected["input"].get<std::string>();
  return golden;
}

/// All of a kind: "lora", or "" for models.
[[nodiscard]] inline std::vector<GoldenFolder> golden_folders(const std::string& kind) {
  std::vector<GoldenFolder> folders;
  for (const auto& entry : std::filesystem::directory_iterator(golden_folder_cases())) {
    GoldenFolder golden = read_golden_folder(entry.path());
    if (golden.expected.value("kind", "") == kind) folders.push_back(std::move(golden));
  }
  return folders;
}

}  // namespace ingot::test
