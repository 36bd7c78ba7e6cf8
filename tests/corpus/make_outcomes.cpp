// SPDX-License-Identifier: MIT
// `make_outcomes FOLDER`: writes the corpus of outcomes as <outcome>__<name>.gguf.

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "corpus/outcomes.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: make_outcomes FOLDER\n", stderr);
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  constexpr std::array<std::string_view, 3> outcomes = {"clean", "warned", "refused"};
  const ingot::test::OutcomeCorpus corpus = ingot::test::make_outcome_corpus();
  for (const ingot::test::OutcomeFile& file : corpus.files()) {
    const std::string_view outcome = outcomes[static_cast<std::size_t>(file.outcome)];
    std::ofstream out(folder / (std::string(outcome) + "__" + file.name + ".gguf"),
                      std::ios::binary);
    out.write(reinterpret_cast<const char*>(file.bytes.data()),
              static_cast<std::streamsize>(file.bytes.size()));
    if (!out.flush()) return 1;
  }
  return 0;
}
