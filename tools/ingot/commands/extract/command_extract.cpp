// SPDX-License-Identifier: MIT
// `ingot extract FILE TENSOR -o OUT` -- one tensor, as stored or decoded.

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <ingot/npy.hpp>
#include <ingot/output_file.hpp>
#include <ingot/parallel.hpp>
#include <ingot/quantize.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_files.hpp"
#include "cli/progress.hpp"
#include "commands/output_name.hpp"
#include "text/name_match.hpp"
#include "text/value_text.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot extract model.gguf token_embd.weight -o embeddings.npy\n"
    "  ingot extract model.gguf output.weight -o - --as f32 | sha256sum\n"
    "  ingot extract model.gguf blk.0.attn_q.weight -o blocks.bin --as raw\n"
    "\n"
    "raw is the tensor's bytes as they are stored, in the byte order of the file;\n"
    "f32, f16 and bf16 are the decoded numbers, little-endian, without a header; npy\n"
    "is a NumPy array, in which F16, F64 and integers keep their type and all others\n"
    "become float32. An OUT that ends in .npy means npy, any other raw, name.f32 too.\n"
    "Exit status 1: there is no such tensor.";

enum class Form : std::uint8_t { automatic, raw, f32, f16, bf16, npy };

struct Options {
  std::string file;
  std::string tensor;
  std::string out;
  Form form = Form::automatic;
  bool is_forced = false;
};

/// Elements that are decoded at once: whole blocks of every type.
constexpr std::uint64_t piece_elements = std::uint64_t{1} << 20;

/// The output of the bytes: a file that appears when it is complete, or standard output.
class Sink {
 public:
  static Result<Sink> open(const Options& options, Console& console) {
    Sink sink(console.out());
    if (options.out == "-") return sink;
    INGOT_TRY(sink.file_, OutputFile::create(options.out, options.is_forced));
    return sink;
  }

  Result<void> write(std::span<const std::byte> bytes) {
    if (file_) return file_->write(bytes);
    out_->write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    // The reader has gone; whether that is a failure is decided when the program ends.
    if (!out_->is_open()) return fail(Errc::interrupted, "standard output");
    return {};
  }

  Result<void> commit() { return file_ ? file_->commit() : Result<void>(); }

 private:
  explicit Sink(Output& out) : out_(&out) {}

  Output* out_;
  std::optional<OutputFile> file_;
};

class Extraction {
 public:
  Extraction(const Model& model, const TensorInfo& tensor, Console& console, Sink& sink)
      : model_(model),
        tensor_(tensor),
        type_(*find_type(tensor.type)),
        byte_order_(model.files()[tensor.shard].byte_order),
        threads_(console.threads()),
        sink_(sink),
        progress_(console, std::string(tensor.name), tensor.size_bytes) {}

  Result<void> run(Form form) {
    if (form == Form::f32) return write_floats();
    if (form == Form::f16) return write_halves(dequantize_to_f16);
    if (form == Form::bf16) return write_halves(dequantize_to_bf16);
    return form == Form::npy ? write_npy() : write_stored(false);
  }

 private:
  /// Calls use(blocks, element count) for each piece of the tensor.
  template <class Use>
  Result<void> for_each_piece(const Use& use) {
    std::vector<std::byte> buffer;
    for (std::uint64_t done = 0; done < tensor_.element_count; done += piece_elements) {
      const std::uint64_t count = std::min(piece_elements, tensor_.element_count - done);
      const std::uint64_t first_byte = type_.bytes_of(done);
      const auto size_bytes = static_cast<std::size_t>(type_.bytes_of(count));
      buffer.resize(size_bytes);
      INGOT_TRY(const std::span<const std::byte> blocks, model_.fetch(tensor_, first_byte, buffer));
      INGOT_TRY_VOID(use(blocks, static_cast<std::size_t>(count)));
      progress_.update(first_byte + size_bytes);
      if (stop_signal() != 0) return fail(Errc::interrupted, std::string(tensor_.name));
    }
    return {};
  }

  Result<void> write_stored(bool is_little_wanted) {
    std::vector<std::byte> swapped;
    return for_each_piece([&](std::span<const std::byte> blocks, std::size_t) -> Result<void> {
      if (!is_little_wanted || byte_order_ == Endian::little) return sink_.write(blocks);
      swapped.assign(blocks.begin(), blocks.end());
      INGOT_TRY_VOID(swap_byte_order(tensor_.type, swapped));
      return sink_.write(swapped);
    });
  }

  Result<void> write_floats() {
    std::vector<float> floats;
    return for_each_piece(
        [&](std::span<const std::byte> blocks, std::size_t count) -> Result<void> {
          floats.resize(count);
          INGOT_TRY_VOID(dequantize_spread(tensor_.type, blocks, floats, threads_,
                                           {.byte_order = byte_order_}));
          return write_little(TensorType::f32, std::as_writable_bytes(std::span(floats)));
        });
  }

  template <class Decode>
  Result<void> write_halves(const Decode& decode) {
    std::vector<std::uint16_t> halves;
    return for_each_piece(
        [&](std::span<const std::byte> blocks, std::size_t count) -> Result<void> {
          halves.resize(count);
          INGOT_TRY_VOID(decode(tensor_.type, blocks, halves, byte_order_));
          return write_little(TensorType::f16, std::as_writable_bytes(std::span(halves)));
        });
  }

  /// Numbers of this machine, written little-endian.
  Result<void> write_little(TensorType number, std::span<std::byte> bytes) {
    if constexpr (std::endian::native == std::endian::big) {
      INGOT_TRY_VOID(swap_byte_order(number, bytes));
    }
    return sink_.write(bytes);
  }

  Result<void> write_npy() {
    const std::string_view kept = npy_descriptor(tensor_.type);
    const std::string header =
        npy_header(kept.empty() ? npy_descriptor(TensorType::f32) : kept, tensor_.shape);
    INGOT_TRY_VOID(sink_.write(std::as_bytes(std::span(header))));
    return kept.empty() ? write_floats() : write_stored(true);
  }

  const Model& model_;
  const TensorInfo& tensor_;
  const TensorTypeInfo& type_;
  Endian byte_order_;
  unsigned threads_;
  Sink& sink_;
  Progress progress_;
};

ExitCode refuse_missing(Console& console, const Options& options, const Model& model) {
  return console.refuse(options.file,
                        "there is no tensor \"" + escape(options.tensor) + "\"" +
                            suggest(options.tensor, tensor_names(model)),
                        ExitCode::negative);
}

/// A tensor of a type that only a lenient reader opens has no elements that anybody could name.
Result<void> write_unknown(const Model& model, const TensorInfo& tensor, Sink& sink) {
  std::vector<std::byte> buffer(piece_elements);
  for (std::uint64_t done = 0; done < tensor.size_bytes; done += buffer.size()) {
    buffer.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), tensor.size_bytes - done)));
    INGOT_TRY_VOID(model.read(tensor, done, buffer));
    INGOT_TRY_VOID(sink.write(buffer));
  }
  return {};
}

Result<void> write_tensor(const Options& options, Form form, const Model& model,
                          const TensorInfo& tensor, Console& console) {
  const bool is_known = find_type(tensor.type) != nullptr;
  if (!is_known && form != Form::raw) {
    return fail(Errc::unsupported_type, std::string(tensor.name), type_text(tensor.type));
  }
  const OrderlyStop orderly_stop;
  // An error that names no tensor is about the output.
  const auto write = [&]() -> Result<void> {
    INGOT_TRY(Sink sink, Sink::open(options, console));
    INGOT_TRY_VOID(is_known ? Extraction(model, tensor, console, sink).run(form)
                            : write_unknown(model, tensor, sink));
    return sink.commit();
  };
  Result<void> written = write();
  if (!written && written.error().subject.empty()) written.error().subject = options.out;
  return written;
}

/// The name of a tensor as that of a file: whatever it is, it leads nowhere else.
std::string file_name_of(std::string name) {
  for (char& c : name) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
    if (!is_plain) c = '_';
  }
  return name;
}

/// "raw Q8_0, as it is stored; --as f32 decodes it"
std::string describe_form(Form form, const TensorInfo& tensor) {
  const std::string stored = type_text(tensor.type);
  const std::string_view kept = npy_descriptor(tensor.type);
  switch (form) {
    case Form::f32:
      return stored + " decoded to F32";
    case Form::f16:
      return stored + " decoded to F16";
    case Form::bf16:
      return stored + " decoded to BF16";
    case Form::npy:
      return kept.empty() ? stored + " decoded to a NumPy array of F32"
                          : "a NumPy array of " + stored;
    default:
      return "raw " + stored + ", as it is stored" +
             (is_quantized(tensor.type) ? "; --as f32 decodes it" : "");
  }
}

ExitCode run(Options& options, Console& console) {
  if (console.is_json()) {
    return console.refuse_usage("extract: it reports nothing, so there is no --json");
  }
  if (options.out == "-" && console.is_terminal()) {
    return console.refuse_usage("extract: a terminal cannot show this; give -o FILE, or a pipe");
  }
  // The command reads instead of mapping, as mapped pages would count as memory of the process.
  INGOT_CLI_TRY(const Model model, console.open_model(options.file, FileAccess::read), console,
                options.file);
  const TensorInfo* tensor = model.find_tensor(options.tensor);
  if (tensor == nullptr) return refuse_missing(console, options, model);
  const std::string ending = options.form == Form::npy ? ".npy" : ".bin";
  INGOT_CLI_TRY_VOID(resolve_output(options.out, file_name_of(options.tensor) + ending), console,
                     options.out);
  if (console.is_input(options.out)) {
    return console.refuse(options.out, "it is the model; the output must be another file");
  }
  Form form = options.form;
  if (form == Form::automatic) form = options.out.ends_with(".npy") ? Form::npy : Form::raw;
  const TensorInfo* const read = tensor;
  Result<void> result = console.before_reading(options.file, model, std::span(&read, 1));
  if (result) result = write_tensor(options, form, model, *tensor, console);
  if (result) remark_written(console, options.out, describe_form(form, *tensor));
  if (result || !console.out().is_open()) return ExitCode::done;
  const bool is_output = result.error().code == Errc::already_exists;
  return console.fail(is_output ? options.out : options.file, result.error());
}

}  // namespace

void add_extract_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      add_command(program, "extract", "Write one tensor to a file, as stored or decoded", examples);
  add_file(command, options->file);
  console.add_index_option(command);
  require(add_argument(command, "TENSOR", options->tensor, "Its name"));
  require(
      add_text(command, "-o,--output", options->out, "OUT", "The file to write, or - for stdout"));
  add_choice(command, "--as", "FORM", options->form,
             {{"raw", Form::raw},
              {"f32", Form::f32},
              {"f16", Form::f16},
              {"bf16", Form::bf16},
              {"npy", Form::npy}},
             "What to write, {}; default: by the ending of OUT");
  add_switch(command, "--force", options->is_forced, "Replace OUT if it exists");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
