// SPDX-License-Identifier: MIT
// The functions of a module. An instance of it is one model: memory is given back with the
// instance.
//
// Each returns 0, or 1 for an error; `result` then is a document, or the members of the error.
// After a call, `missing` lists the ranges that were asked for and are not here: if there are any,
// the host adds them and calls again.
#include <cstdlib>
#include <ingot/text.hpp>
#include <new>
#include <vector>

#include "cli/command.hpp"
#include "files.hpp"
#include "module.hpp"
#include "text/value_text.hpp"

namespace ingot::web {
namespace {

std::string result_text;
std::vector<float> floats;
bool is_remote = false;
OpenOptions open_options = {.access = FileAccess::read};
bool is_full = false;

// Without exceptions, memory that is not there ends the module.
const std::new_handler ends_module = std::set_new_handler([] {
  is_full = true;
  __builtin_trap();
});

using AddCommand = void (*)(CLI::App&, cli::Console&);

struct Command {
  std::string_view name;
  AddCommand add;
};

constexpr Command commands[] = {
    {"anatomy", cli::add_anatomy_command}, {"metadata", cli::add_metadata_command},
    {"tensors", cli::add_tensors_command},
#ifdef INGOT_WEB_FULL
    {"check", cli::add_check_command},     {"fit", cli::add_fit_command},
    {"show", cli::add_show_command}
#endif
};

/// The words of a request, each of which ends with a NUL.
std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = text.find('\0');
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end, text.size() - 1) + 1);
  }
  return words;
}

/// Runs a command of the program: its name, then pairs of options and values.
int run_command(const std::vector<std::string>& words) {
  const auto wrong = [](std::string message) {
    return refuse({Errc::invalid_argument, Error::no_offset, {}, std::move(message)});
  };
  const Command* command = nullptr;
  for (const Command& each : commands) {
    if (!words.empty() && each.name == words[0]) command = &each;
  }
  if (command == nullptr) return wrong("there is no such document");
  cli::Console console;
  console.set_opening(is_remote, open_options);
  CLI::App app;
  command->add(app, console);
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
    const std::string problem = app.set(words[i], words[i + 1]);
    if (!problem.empty()) return wrong(problem);
  }
  app.run();
  if (console.error()) return refuse(*console.error());
  std::string document = console.take_printed();
  return document.empty() ? wrong(console.message()) : give(std::move(document));
}

}  // namespace

std::optional<Model>& opened() {
  static std::optional<Model> model;
  return model;
}

int give(std::string text) {
  result_text = std::move(text);
  return 0;
}

int refuse(const Error& error) {
  give_json([&](cli::JsonStream& json) {
    const auto object = json.object();
    json.member("code", name_of(error.code));
    json.member("message", error.message());
    json.member_if(error.file_offset != Error::no_offset, "offset", error.file_offset);
    json.text_or_null("subject", error.subject);
    json.values("context", error.context, cli::Layout::line);
  });
  return 1;
}

}  // namespace ingot::web

using namespace ingot;

/// Whether a trap came because there was no memory.
INGOT_WEB_EXPORT(is_out_of_memory) int is_out_of_memory() { return web::is_full ? 1 : 0; }

INGOT_WEB_EXPORT(take_memory) void* take_memory(std::size_t size_bytes) {
  return std::malloc(size_bytes);
}
INGOT_WEB_EXPORT(give_memory_back) void give_memory_back(void* memory) { std::free(memory); }

INGOT_WEB_EXPORT(add_file)
void add_file(const char* name, std::size_t name_bytes, std::uint64_t size_bytes,
              std::uint64_t first_read_bytes) {
  web::add_file({name, name_bytes}, size_bytes, first_read_bytes);
}

INGOT_WEB_EXPORT(add_range)
std::byte* add_range(std::size_t file, std::uint64_t offset, std::size_t size_bytes) {
  return web::add_range(file, offset, size_bytes).data();
}

INGOT_WEB_EXPORT(range_data)
const std::byte* range_data(std::size_t file, std::uint64_t offset) {
  return web::range_at(file, offset).data();
}

INGOT_WEB_EXPORT(drop_range) void drop_range(std::size_t file, std::uint64_t offset) {
  web::drop_range(file, offset);
}

INGOT_WEB_EXPORT(missing) int missing() {
  const std::vector<web::MissingRange> ranges = web::take_missing();
  return web::give_json([&](cli::JsonStream& json) {
    const auto array = json.array(cli::Layout::line);
    for (const web::MissingRange& range : ranges) {
      const auto row = json.array(cli::Layout::line);
      json.value(range.file);
      json.value(range.offset);
      json.value(range.size_bytes);
    }
  });
}

INGOT_WEB_EXPORT(result_data) const char* result_data() { return web::result_text.data(); }
INGOT_WEB_EXPORT(result_size) std::size_t result_size() { return web::result_text.size(); }

/// Opens the model that the other functions are about; the weights of a remote one are not read
/// for a document. One file of a set is a model of its own if it `is_alone`.
INGOT_WEB_EXPORT(open_model)
int open_model(const char* name, std::size_t name_bytes, bool is_remote, bool is_alone) {
  web::is_remote = is_remote;
  web::open_options.with_shards = !is_alone;
  Result<Model> model = Model::open(std::string(name, name_bytes), web::open_options);
  if (!model) return web::refuse(model.error());
  web::opened() = *std::move(model);
  return 0;
}

INGOT_WEB_EXPORT(run) int run(const char* words, std::size_t words_bytes) {
  return web::run_command(web::split_words({words, words_bytes}));
}

/// The keys with their values, arrays without.
INGOT_WEB_EXPORT(list_keys) int list_keys() {
  return web::give_json([&](cli::JsonStream& json) {
    json.objects(web::opened()->metadata(), [&](const KeyValue& pair) {
      json.member("key", pair.key);
      json.member("type", name_of(pair.value.type()));
      if (!pair.value.is_array()) return cli::write_value_member(json, pair.value);
      json.member("element_type", name_of(pair.value.as_array().element_type()));
      json.member("count", pair.value.as_array().size());
    });
  });
}

/// Where the parts of the files are.
INGOT_WEB_EXPORT(list_files) int list_files() {
  return web::give_json([&](cli::JsonStream& json) {
    json.objects(web::opened()->files(), [&](const ModelFile& file) {
      json.member("name", file.path);
      json.member("size", file.file_bytes);
      json.member("version", file.version);
      json.member("byte_order", file.byte_order == Endian::little ? "little" : "big");
      json.member("alignment", file.alignment);
      json.member("key_count", file.metadata.size());
      json.member("infos_offset", file.infos_offset);
      json.member("header_bytes", file.header_bytes);
      json.member("data_offset", file.data_offset);
    });
  });
}

/// The elements of the array of a key.
INGOT_WEB_EXPORT(read_value) int read_value(std::size_t key) {
  return web::give_json([&](cli::JsonStream& json) {
    const auto object = json.object();
    cli::write_value_member(json, web::opened()->metadata()[key].value);
  });
}

/// The file that holds a tensor.
INGOT_WEB_EXPORT(file_of_tensor) std::size_t file_of_tensor(std::size_t tensor) {
  const Model& model = *web::opened();
  return web::number_of(model.files()[model.tensors()[tensor].shard].path);
}

/// Whether the bytes of rows are here: asks for all at once, as the decoder reads small pieces,
/// each of which would be a call of its own.
INGOT_WEB_EXPORT(find_rows)
int find_rows(std::size_t tensor, std::uint64_t first_row, std::uint64_t row_count) {
  const TensorInfo& info = web::opened()->tensors()[tensor];
  const std::uint64_t most = std::uint64_t{1} << 27;  // half a gigabyte of floats
  if (info.row_elements() == 0 || row_count > most / info.row_elements()) {
    return web::refuse({Errc::limit_exceeded, Error::no_offset, std::string(info.name),
                        "too many rows for one call"});
  }
  const std::uint64_t row_bytes = info.size_bytes / info.row_count();
  const std::uint64_t offset = web::opened()->file_offset(info) + first_row * row_bytes;
  if (web::has_range(file_of_tensor(tensor), offset, row_count * row_bytes)) return web::give({});
  return web::refuse({Errc::io_error, offset, std::string(info.name), "it is not here yet"});
}

/// Decodes some of the rows that are here; the floats are at `floats_data`.
INGOT_WEB_EXPORT(read_rows)
int read_rows(std::size_t tensor, std::uint64_t first_row, std::uint64_t row_count) {
  const TensorInfo& info = web::opened()->tensors()[tensor];
  web::floats.resize(static_cast<std::size_t>(row_count * info.row_elements()));
  const Result<void> done = web::opened()->dequantize_rows(info, first_row, row_count, web::floats);
  return done ? web::give({}) : web::refuse(done.error());
}

INGOT_WEB_EXPORT(floats_data) const float* floats_data() { return web::floats.data(); }
INGOT_WEB_EXPORT(drop_floats) void drop_floats() { web::floats = {}; }
