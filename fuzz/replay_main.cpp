// SPDX-License-Identifier: MIT
// `fuzz_<target> [FILE | FOLDER]...`: runs a fuzz target over files instead of fuzzing, so that
// what was found once is tried by every compiler. Folders are read with all that is in them; one
// that is missing or empty is no error, because a target may have no corpus yet.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_below(const fs::path& place) {
  std::vector<fs::path> files;
  if (fs::is_directory(place)) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(place)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  } else if (fs::exists(place)) {
    files.push_back(place);
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool replay(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::vector<char> content((std::istreambuf_iterator<char>(stream)), {});
  if (stream.bad() || !stream.is_open()) {
    std::fprintf(stderr, "cannot read %s\n", file.c_str());
    return false;
  }
  // Exactly as large as the content, so that a sanitizer sees the first byte beyond it.
  const std::vector<std::uint8_t> bytes(content.begin(), content.end());
  // Said before the run: if the target dies, the last line names the file.
  std::printf("%s\n", file.c_str());
  std::fflush(stdout);
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  LLVMFuzzerTestOneInput(nullptr, 0);
  bool is_complete = true;
  std::size_t file_count = 0;
  for (int i = 1; i < argc; ++i) {
    for (const fs::path& file : files_below(argv[i])) {
      is_complete = replay(file) && is_complete;
      ++file_count;
    }
  }
  std::printf("replayed %zu files and the empty input\n", file_count);
  return is_complete ? 0 : 1;
}
