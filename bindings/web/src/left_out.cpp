// SPDX-License-Identifier: MIT
// What the commands can be asked for and a module does not have: reading all weights, the machine,
// a terminal. Options that need these fail, or find nothing.
#include <ingot/diff.hpp>
#include <ingot/digest.hpp>
#include <ingot/estimate.hpp>
#include <ingot/tensor_statistics.hpp>

#include "check/rules.hpp"
#include "cli/console.hpp"
#include "cli/help.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_files.hpp"
#include "cli/progress.hpp"
#include "cli/remote/stored_file.hpp"
#include "commands/fit/engine_command.hpp"
#include "text/error_json.hpp"
#include "text/whole_file.hpp"

// What libc++ calls before it gives up. Its own print a message, for which they need all of printf,
// 5 kB of the package.
void std::__2::__libcpp_verbose_abort(const char*, ...) { __builtin_trap(); }
extern "C" [[noreturn]] void abort_message(const char*, ...) { __builtin_trap(); }

namespace ingot {

ThisMachine find_this_machine() { return {}; }

Result<std::vector<Statistics>> compute_statistics(const Model&, std::span<const TensorInfo* const>,
                                                   unsigned,
                                                   const std::function<bool(std::uint64_t)>&) {
  return fail(Errc::invalid_argument, "stats", "the web has no pass over all weights");
}

#ifdef INGOT_WEB_FULL
std::string digest_of(DigestAlgorithm, std::span<const std::byte>) { return {}; }

Result<std::optional<WeightGrid>> find_grid(const Model&, const TensorInfo&) {
  return std::nullopt;
}

namespace check {
Result<void> scan_data(Inspection&, const CheckOptions&) { return {}; }
}  // namespace check
#endif

namespace cli {

std::string suggest(std::string_view, const std::vector<std::string>&) { return {}; }
void write_raw(Console&, std::string_view) {}
void write_traffic(JsonStream&, const Traffic&) {}
void write_error_json(JsonStream&, const std::string&, const Error&) {}
std::vector<std::string> distinct_models(const std::vector<std::string>& files, bool) {
  return files;
}
Result<std::string> find_here(Console&, const std::string& argument) { return argument; }
std::string shell_word(std::string_view) { return {}; }
std::string llama_cpp_command(const std::string&, const RunOptions&, const MemoryEstimate&) {
  return {};
}

OrderlyStop::OrderlyStop() noexcept {}
OrderlyStop::~OrderlyStop() {}

Progress::Progress(const Console& console, std::string, std::uint64_t)
    : console_(console), total_bytes_(0), is_enabled_(false) {}
Progress::~Progress() {}
GoOn Progress::go_on() { return {}; }

}  // namespace cli
}  // namespace ingot
