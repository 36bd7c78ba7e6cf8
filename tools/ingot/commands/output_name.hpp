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

class Console;

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

/// Makes the folder that OUT means by its "/" at the end, or that its pattern is in; does nothing
/// for others.
[[nodiscard]] Result<void> make_output_folder(const std::string& out);

/// Makes OUT the file that it means: in a folder, which is made unless `is_dry_run`, that of the
/// name.
[[nodiscard]] Result<void> resolve_output(std::string& out, const std::string& name,
                                          bool is_dry_run = false);

/// "model.gguf" of "models/model.gguf" and of "models/model": a name for a copy in another folder.
[[nodiscard]] std::string copy_name(const std::string& path, std::string_view ending = ".gguf");

/// "wrote model.gguf (4.03 MiB): F16, 21 tensors", as every command says it of what it wrote.
[[nodiscard]] std::string written_text(std::string_view out, std::string_view size,
                                       std::string_view details = {});

/// Says so, as a remark, of a file or of all files of a folder; nothing of standard output ("-").
void remark_written(Console& console, const std::string& out, std::string_view details = {});

}  // namespace ingot::cli
