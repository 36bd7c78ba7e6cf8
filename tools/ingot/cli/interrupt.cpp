// SPDX-License-Identifier: MIT
#include "cli/interrupt.hpp"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "system/system.hpp"

namespace ingot::cli {
namespace {

std::atomic<int> received_signal{0};
std::atomic<int> orderly_depth{0};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");

extern "C" void note_signal(int signal_number) {
  if (orderly_depth.load() == 0) std::_Exit(128 + signal_number);
  received_signal.store(signal_number);
}

/// Handles bytes of a mapping that cannot be read: no work can go on without them. An unfinished
/// output never gets its name.
extern "C" void report_lost_bytes(int) {
  constexpr std::string_view message =
      "ingot: a file that is mapped into memory could not be read any more: it has become shorter, "
      "or its device fails; --io read says which\n";
  system::write_all(system::standard_error, message);
  std::_Exit(4);
}

}  // namespace

void handle_signals() noexcept { system::handle_signals(note_signal, report_lost_bytes); }

OrderlyStop::OrderlyStop() noexcept { orderly_depth.fetch_add(1); }
OrderlyStop::~OrderlyStop() { orderly_depth.fetch_sub(1); }

int stop_signal() noexcept { return received_signal.load(); }

}  // namespace ingot::cli
