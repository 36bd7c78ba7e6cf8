// SPDX-License-Identifier: MIT
// The few functions of NVIDIA's management library (NVML) that tell of memory. It comes with the
// driver and is loaded by name, so nothing is linked to it.
#include <array>
#include <memory>

#include "estimate/this_machine.hpp"
#include "system/process.hpp"

namespace ingot::estimate {
namespace {

/// nvmlMemory_t
struct Memory {
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};
using Card = void*;  // nvmlDevice_t
constexpr int success = 0;
constexpr int memory_clock = 2;           // NVML_CLOCK_MEM
constexpr unsigned longest_name = 96;     // NVML_DEVICE_NAME_V2_BUFFER_SIZE
constexpr double transfers_of_clock = 2;  // memory transfers at both edges

class Nvml {
 public:
  Nvml() : library_(load()) { is_ready_ = call<int()>("nvmlInit_v2") == success; }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    if (is_ready_) call<int()>("nvmlShutdown");
    if (library_ != nullptr) system::unload_library(library_);
  }

  std::vector<Device> cards() {
    std::vector<Device> cards;
    unsigned count = 0;
    if (!is_ready_ || call<int(unsigned*)>("nvmlDeviceGetCount_v2", &count) != success) return {};
    for (unsigned i = 0; i < count; ++i) {
      Card card = nullptr;
      Memory memory;
      if (call<int(unsigned, Card*)>("nvmlDeviceGetHandleByIndex_v2", i, &card) != success ||
          call<int(Card, Memory*)>("nvmlDeviceGetMemoryInfo", card, &memory) != success) {
        continue;
      }
      cards.push_back({name_of_card(card), memory.free, bandwidth(card)});
    }
    return cards;
  }

 private:
  static void* load() noexcept {
    void* const library = system::load_library("libnvidia-ml.so.1");
    return library != nullptr ? library : system::load_library("nvml.dll");
  }

  /// Calls a function of the library; an error if it has none of this name.
  template <class Function, class... Arguments>
  int call(const char* name, Arguments... arguments) {
    void* function = library_ == nullptr ? nullptr : system::find_function(library_, name);
    if (function == nullptr) return -1;
    return reinterpret_cast<Function*>(function)(arguments...);
  }

  std::string name_of_card(Card card) {
    std::array<char, longest_name> name = {};
    if (call<int(Card, char*, unsigned)>("nvmlDeviceGetName", card, name.data(),
                                         longest_name - 1) != success) {
      return "NVIDIA card";
    }
    return name.data();
  }

  /// Bytes a second; 0 where the driver does not tell.
  double bandwidth(Card card) {
    unsigned bus_bits = 0;
    unsigned clock_mhz = 0;
    if (call<int(Card, unsigned*)>("nvmlDeviceGetMemoryBusWidth", card, &bus_bits) != success ||
        call<int(Card, int, unsigned*)>("nvmlDeviceGetMaxClockInfo", card, memory_clock,
                                        &clock_mhz) != success) {
      return 0;
    }
    return transfers_of_clock * clock_mhz * 1e6 * bus_bits / 8;
  }

  void* library_;
  bool is_ready_ = false;
};

}  // namespace

std::vector<Device> find_nvidia_cards() { return Nvml().cards(); }

}  // namespace ingot::estimate
