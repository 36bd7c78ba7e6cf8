// SPDX-License-Identifier: MIT
#include "estimate/this_machine.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

/// A folder with the files in which Linux tells of memory.
class FakeSystem {
 public:
  FakeSystem& file(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_.path(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
    return *this;
  }
  [[nodiscard]] ThisMachine read() const { return estimate::read_machine(folder_.path("")); }

 private:
  TemporaryFolder folder_;
};

const std::string card = "sys/class/drm/card1/device/";

TEST(ThisMachineTest, TheHostHasWhatIsAvailable) {
  FakeSystem system;
  system.file("proc/meminfo", "MemTotal:  32000000 kB\nMemFree:  1 kB\nMemAvailable:  16000000 kB");
  EXPECT_EQ(system.read().host_bytes, 16'000'000ULL * 1024);
  EXPECT_TRUE(system.read().devices.empty());
  system.file("sys/fs/cgroup/memory.max", "max");
  EXPECT_EQ(system.read().host_bytes, 16'000'000ULL * 1024);
  system.file("sys/fs/cgroup/memory.max", "1073741824");
  EXPECT_EQ(system.read().host_bytes, 1ULL << 30);
}

TEST(ThisMachineTest, NothingIsKnownOfAnotherSystem) {
  EXPECT_EQ(FakeSystem().read().host_bytes, std::nullopt);
  EXPECT_EQ(FakeSystem().file("proc/meminfo", "MemAvailable: much").read().host_bytes,
            std::nullopt);
}

TEST(ThisMachineTest, CardsOfLinuxDrivers) {
  FakeSystem system;
  system.file(card + "mem_info_vram_total", "17163091968")
      .file(card + "mem_info_vram_used", "163091968");
  ASSERT_EQ(system.read().devices.size(), 1U);
  EXPECT_EQ(system.read().devices[0].name, "card1");
  EXPECT_EQ(system.read().devices[0].usable_bytes, 17'000'000'000U);
  system.file(card + "product_name", "Radeon RX 7800 XT");
  EXPECT_EQ(system.read().devices[0].name, "Radeon RX 7800 XT");
}

TEST(ThisMachineTest, AShareOfTheHostsMemoryIsNoCard) {
  FakeSystem system;
  system.file(card + "mem_info_vram_total", "536870912").file(card + "mem_info_vram_used", "0");
  EXPECT_TRUE(system.read().devices.empty());
}

}  // namespace
}  // namespace ingot::test
