// SPDX-License-Identifier: MIT
// OUT: the file, the folder or the pattern that a result is written to.
#pragma once

#include <ingot/error.hpp>
#include <string>
#include <string_view>

namespace CLI {
class App;
}  // namespace CLI

namespace ingot::cli {

/// Declares OUT, as an argument and as -o OUT; to give both is wrong usage.
void add_output(CLI::App& app, std::string& target, const std::string& name,
                const std::string& description);

/// Whether OUT is a folder: one that exists, or a name that ends in "/".
[[nodiscard]] bool is_output_folder(const std::string& out);

/// The name of a file without its folder.
[[nodiscard]] std::string name_of_file(std::string_view path);

/// The name of a model without folder and ending, and without the type that its weights had before
/// they were quantized: "tiny" of "models/tiny-F16.gguf".
[[nodiscard]] std::string base_name(std::string path);

/// The file that OUT means: in a folder `{name}-{type}ENDING`, and where OUT has them, `{name}`,
/// `{type}` and `{ftype}`, the type in lower case, become those of the result.
[[nodiscard]] std::string output_path(const std::string& out, const std::string& name,
                                      const std::string& type, std::string_view ending = ".gguf");

/// Makes the folder that OUT means by its "/" at the end; does nothing for others.
[[nodiscard]] Result<void> make_output_folder(const std::string& out);

}  // namespace ingot::cli
