// SPDX-License-Identifier: MIT
// Network addresses that are not of the public internet.

#include <gmock/gmock.h>

#include <string>

#include "remote/http/transfer.hpp"

namespace ingot::remote::test {
namespace {

TEST(PrivateNetwork, IsEverythingThatIsNotPublic) {
  for (const char* const text :
       {"127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0",
        "100.64.0.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "fd12::1",
        "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:7f00:1::", "ff02::1", "no address"}) {
    EXPECT_TRUE(is_private_network(std::string(text))) << text;
  }
  for (const char* const text : {"1.1.1.1", "172.32.0.1", "192.169.0.1", "2606:4700::1111",
                                 "::ffff:8.8.8.8", "2002:808:808::"}) {
    EXPECT_FALSE(is_private_network(std::string(text))) << text;
  }
}

}  // namespace
}  // namespace ingot::remote::test
