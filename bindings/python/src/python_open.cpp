// SPDX-License-Identifier: MIT
// Opening models from paths, memory and file objects.
#include <ingot/store.hpp>
#include <mutex>

#include "python_options.hpp"

namespace ingot::python {
namespace {

/// A file object of Python: `seek` and `readinto`, one call at a time.
class PythonFile {
 public:
  explicit PythonFile(py::object file) : file_(std::move(file)) {
    size_bytes_ = py::cast<std::uint64_t>(file_.attr("seek")(0, 2));
  }
  PythonFile(const PythonFile&) = delete;
  PythonFile& operator=(const PythonFile&) = delete;
  ~PythonFile() {
    const py::gil_scoped_acquire acquire;
    file_ = py::object();
    exception_ = nullptr;
  }

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::byte> destination) {
    // The GIL comes before the lock, as a thread that waits for the lock must not hold the GIL that
    // its owner needs.
    const py::gil_scoped_acquire acquire;
    try {
      while (!destination.empty()) {
        file_.attr("seek")(offset);
        const py::bytes piece = file_.attr("read")(destination.size());
        const std::string_view bytes = piece;
        if (bytes.empty() || bytes.size() > destination.size()) return false;
        std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(),
                    destination.data());
        destination = destination.subspan(bytes.size());
        offset += bytes.size();
      }
      return true;
    } catch (...) {
      if (!exception_) exception_ = std::current_exception();
      return false;
    }
  }

  /// Rethrows the exception of the file.
  void rethrow() {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
  }

 private:
  py::object file_;
  std::uint64_t size_bytes_ = 0;
  std::exception_ptr exception_;
};

/// A store that has one file, which has no name outside of it.
class OneFileStore final : public Store {
 public:
  using Open = std::function<std::unique_ptr<Source>()>;
  explicit OneFileStore(Open open) : open_(std::move(open)) {}

  [[nodiscard]] Result<std::unique_ptr<Source>> open(const std::string& name) const override {
    if (name != file_name) return fail(Errc::io_error, name);
    return open_();
  }
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string&) const override {
    return std::vector<std::string>{std::string(file_name)};
  }
  [[nodiscard]] std::string locate(const std::string&) const override { return {}; }

  static constexpr const char* file_name = "file";

 private:
  Open open_;
};

OpenAnyOptions open_options_from(const std::string& access, bool is_lenient, bool with_shards,
                                 bool is_header_only, bool uses_index, const py::dict& limits) {
  OpenAnyOptions options;
  options.gguf.access = access == "read" ? FileAccess::read : FileAccess::map;
  options.gguf.is_lenient = is_lenient;
  options.gguf.with_shards = with_shards;
  options.gguf.is_header_only = is_header_only;
  options.gguf.uses_index = uses_index;
  options.gguf.limits = options_from<Limits>(limits);
  return options;
}

using Opened = std::shared_ptr<OpenModel>;

Opened finish(Result<OpenedModel> opened, std::shared_ptr<void> lender) {
  return std::make_shared<OpenModel>(OpenModel{std::move(lender), take(std::move(opened))});
}

Opened open_path(const py::str& path, const std::string& access, bool is_lenient, bool with_shards,
                 bool is_header_only, bool uses_index, const py::dict& limits) {
  OpenAnyOptions options =
      open_options_from(access, is_lenient, with_shards, is_header_only, uses_index, limits);
  return std::make_shared<OpenModel>(OpenModel{
      nullptr, run(py::none(), [&, name = to_bytes(path)](const Report& report) {
        options.progress = [&](std::uint64_t done, std::uint64_t) { return report(done); };
        return open_any(name, options);
      })});
}

/// GGUF, which is the usual case, without a thread for it.
Opened open_gguf(const py::str& path, const std::string& access, bool is_lenient, bool with_shards,
                 bool is_header_only, bool uses_index, const py::dict& limits) {
  const OpenOptions options =
      open_options_from(access, is_lenient, with_shards, is_header_only, uses_index, limits).gguf;
  const std::string name = to_bytes(path);
  std::optional<Result<Model>> model;
  {
    const py::gil_scoped_release release;
    model.emplace(Model::open(name, options));
  }
  return std::make_shared<OpenModel>(OpenModel{nullptr, OpenedModel{take(*std::move(model))}});
}

Opened open_bytes(const py::object& bytes, bool is_lenient, bool is_header_only, bool uses_index,
                  const py::dict& limits) {
  const auto buffer = std::make_shared<Buffer>(bytes);
  const OpenAnyOptions options =
      open_options_from("map", is_lenient, false, is_header_only, uses_index, limits);
  const OneFileStore store([&] { return borrow_memory(buffer->bytes()); });
  std::optional<Result<OpenedModel>> opened;
  {
    const py::gil_scoped_release release;
    opened.emplace(open_any(store, OneFileStore::file_name, options));
  }
  return finish(*std::move(opened), buffer);
}

Opened open_file(const py::object& file, bool is_lenient, bool is_header_only, bool uses_index,
                 const py::dict& limits) {
  const auto python_file = std::make_shared<PythonFile>(file);
  const OneFileStore store([&] {
    return read_through(python_file->size_bytes(),
                        [python_file](std::uint64_t offset, std::span<std::byte> destination) {
                          return python_file->read(offset, destination);
                        });
  });
  const OpenAnyOptions options =
      open_options_from("read", is_lenient, false, is_header_only, uses_index, limits);
  std::optional<Result<OpenedModel>> opened;
  {
    const py::gil_scoped_release release;
    opened.emplace(open_any(store, OneFileStore::file_name, options));
  }
  python_file->rethrow();
  return finish(*std::move(opened), python_file);
}

}  // namespace

Buffer::Buffer(const py::handle& object, bool is_writable) {
  const int flags = PyBUF_C_CONTIGUOUS | (is_writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw py::error_already_set();
}

Buffer::~Buffer() {
  const py::gil_scoped_acquire acquire;
  PyBuffer_Release(&view_);
}

std::span<const std::byte> Buffer::bytes() const noexcept {
  return {static_cast<const std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
}

std::span<std::byte> Buffer::writable() const noexcept {
  return {static_cast<std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
}

std::span<float> Buffer::writable_floats() const {
  if (view_.itemsize != sizeof(float) ||
      reinterpret_cast<std::uintptr_t>(view_.buf) % sizeof(float) != 0) {
    throw py::value_error("an aligned array of float32 is needed");
  }
  return {static_cast<float*>(view_.buf), static_cast<std::size_t>(view_.len) / sizeof(float)};
}

std::span<const float> Buffer::floats() const { return writable_floats(); }

void add_opening(py::module_& module) {
  module.def("open_path", &open_path);
  module.def("open_gguf", &open_gguf);
  module.def("open_bytes", &open_bytes);
  module.def("open_file", &open_file);
  module.def(
      "detect_format",
      [](const py::str& path) -> py::object {
        const std::string name = to_bytes(path);
        std::optional<FileFormat> format;
        {
          const py::gil_scoped_release release;
          format = detect_format(name);
        }
        if (!format) return py::none();
        return py::str(std::string(name_of(*format)));
      },
      py::arg("path"));
}

}  // namespace ingot::python
