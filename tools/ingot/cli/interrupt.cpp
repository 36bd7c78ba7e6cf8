// SPDX-License-Identifier: MIT
#include "cli/interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace ingot::cli {
namespace {

std::atomic<int> received_signal{0};
std::atomic<int> orderly_depth{0};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");

extern "C" void note_signal(int signal_number) {
  if (orderly_depth.load() == 0) _exit(128 + signal_number);
  received_signal.store(signal_number);
}

/// Handles bytes of a mapping that cannot be read: no work can go on without them. An unfinished
/// output never gets its name.
extern "C" void report_lost_bytes(int) {
  constexpr char message[] =
      "ingot: a file that is mapped into memory could not be read any more: it has become shorter, "
      "or its device fails; --io read says which\n";
  static_cast<void>(!write(STDERR_FILENO, message, sizeof message - 1));
  _exit(4);
}

void set_action(int signal_number, void (*handler)(int)) noexcept {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(signal_number, &action, nullptr);
}

}  // namespace

void handle_signals() noexcept {
  // Sets the action even if a script's background job ignores the signal, so that `kill -INT` ends
  // it in order.
  set_action(SIGINT, note_signal);
  set_action(SIGTERM, note_signal);
  struct sigaction hang_up {};
  sigaction(SIGHUP, nullptr, &hang_up);
  if (hang_up.sa_handler != SIG_IGN) set_action(SIGHUP, note_signal);  // nohup stays nohup
  set_action(SIGPIPE, SIG_IGN);
  set_action(SIGXFSZ, SIG_IGN);  // a file beyond the limit is an error of write, too
  set_action(SIGBUS, report_lost_bytes);
}

OrderlyStop::OrderlyStop() noexcept { orderly_depth.fetch_add(1); }
OrderlyStop::~OrderlyStop() { orderly_depth.fetch_sub(1); }

int stop_signal() noexcept { return received_signal.load(); }

}  // namespace ingot::cli
