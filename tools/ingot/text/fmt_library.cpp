// SPDX-License-Identifier: MIT
// The part of fmt that <fmt/core.h> declares and does not define. Debian has it only as a shared
// library, which would slow down every start of the program; header-only, each file would compile
// it.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
template void vformat_to(buffer<char>&, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>,
                         locale_ref);
template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl<char>(locale_ref) -> char;
}  // namespace detail
FMT_END_NAMESPACE
