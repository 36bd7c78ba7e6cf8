// SPDX-License-Identifier: MIT
// Uses what a user of the installed C++ library would: headers, a type of the tables, an error.
#include <cstdio>
#include <ingot/error.hpp>
#include <ingot/types.hpp>

int main() {
  const ingot::Error error{ingot::Errc::not_gguf, 0, "consumer", {}};
  const ingot::TensorTypeInfo* type = ingot::find_type("f32");
  std::printf("%s\n", error.message().c_str());
  return type != nullptr && type->block_bytes == 4 ? 0 : 1;
}
