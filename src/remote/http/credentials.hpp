// SPDX-License-Identifier: MIT
// Secrets, such as the token of the Hugging Face hub: where they come from, and who may see them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingot/error.hpp"
#include "remote/address/address.hpp"

namespace ingot::remote {

/// The hub's token: `token` (HF_TOKEN), else of the file `token_path` (HF_TOKEN_PATH), else of the
/// file `token` in the folder of the hub's programs. Each may be empty, and the token then.
[[nodiscard]] std::string find_hub_token(const std::string& token, const std::string& token_path,
                                         const std::string& hub_home);

/// Whether a line that a user gave can be one of a request. Errc::reference_invalid.
[[nodiscard]] Result<void> check_header_line(std::string_view line);

/// Lines of requests, each for one site.
class Credentials {
 public:
  /// A line that the user wants one site to have.
  void add_given(const Address& address, std::string line);
  /// A secret; it is left out where it would be seen on its way, or would be more than a line.
  void add_secret(const Address& address, std::string line);

  /// Appends the lines for the site of an address, and for no other.
  void append_lines(const Address& address, std::vector<std::string>& lines) const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;  ///< The lines with their sites.
};

}  // namespace ingot::remote
