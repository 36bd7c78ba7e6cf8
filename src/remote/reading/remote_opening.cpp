// SPDX-License-Identifier: MIT
#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

#include "ingot/remote.hpp"

namespace ingot {

/// What the thread and the handle share. A model that is open already does not end with the handle.
struct RemoteOpening::State {
  std::atomic<bool> is_cancelled{false};
  std::atomic<bool> is_open{false};
  std::thread thread;
};

RemoteOpening::RemoteOpening(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
RemoteOpening::RemoteOpening(RemoteOpening&&) noexcept = default;

RemoteOpening& RemoteOpening::operator=(RemoteOpening&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

RemoteOpening::~RemoteOpening() {
  if (state_ == nullptr) return;
  cancel();
  if (!state_->thread.joinable()) return;
  if (state_->thread.get_id() == std::this_thread::get_id()) {
    state_->thread.detach();  // the callback itself lets go of the handle
  } else {
    state_->thread.join();
  }
}

void RemoteOpening::cancel() noexcept { state_->is_cancelled = true; }

RemoteOpening open_remote_async(std::string reference, RemoteOptions options,
                                RemoteCallback callback, OpenAnyOptions open_options) {
  auto state = std::make_shared<RemoteOpening::State>();
  options.should_stop = [state, earlier = std::move(options.should_stop)] {
    return (state->is_cancelled && !state->is_open) || (earlier && earlier());
  };
  auto work = [state, callback, reference = std::move(reference), options = std::move(options),
               open_options = std::move(open_options)] {
    Result<RemoteModel> opened = open_remote(reference, options, open_options);
    state->is_open = opened.has_value();
    callback(std::move(opened));
  };
  try {
    state->thread = std::thread(std::move(work));
  } catch (const std::system_error& error) {
    callback(fail(Errc::out_of_memory, "thread", error.what()));
  }
  return RemoteOpening(std::move(state));
}

}  // namespace ingot
