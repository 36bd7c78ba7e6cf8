// SPDX-License-Identifier: MIT
#include <fmt/core.h>
#include <ingot/version.h>

#include <vector>

#include "cli/declaration.hpp"
#include "cli/generated_texts.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

/// Text that troff takes as it is: no escapes, no requests, and hyphens that can be copied.
std::string roff(std::string_view text) {
  std::string result;
  bool is_line_start = true;
  for (const char c : text) {
    if (is_line_start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '\'') {
      result += "\\(aq";
    } else {
      result += c;
    }
    is_line_start = c == '\n';
  }
  return result;
}

/// Lines as they are.
std::string verbatim(std::string_view text) { return ".nf\n" + roff(text) + "\n.fi\n"; }

std::string entry(const std::string& term, const std::string& meaning) {
  return ".TP\n" + term + "\n" + roff(meaning) + "\n";
}

std::string option_entry(const CLI::Option& option) {
  std::string term;
  for (const std::string& name : names_of(option)) {
    if (!term.empty()) term += ", ";
    term += "\\fB" + roff(name) + "\\fR";
  }
  if (takes_value(option)) term += " \\fI" + roff(option.get_type_name()) + "\\fR";
  return entry(term, option.get_description());
}

std::string options_section(const CLI::App& app, std::string_view heading) {
  std::string text;
  for (const CLI::Option* option : options_of(app)) text += option_entry(*option);
  return text.empty() ? text : fmt::format(".SH {}\n", heading) + text;
}

/// The heading has no date, so that the same source makes the same page.
std::string heading(const std::string& name, const std::string& description) {
  return fmt::format(".TH {} 1 \"\" \"Ingot {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                     roff(upper_case(name)), INGOT_VERSION_STRING, roff(name), roff(description));
}

std::string see_also(const std::vector<std::string>& names) {
  std::string text = ".SH SEE ALSO\n";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format(".BR {} (1){}\n", roff(names[i]), i + 1 < names.size() ? "," : "");
  }
  return text;
}

std::string program_page(CLI::App& program) {
  std::string text = heading("ingot", program.get_description());
  text += ".SH SYNOPSIS\n.B ingot\n.I COMMAND\n[\\fIOPTIONS\\fR] \\fIFILE\\fR...\n";
  text += ".SH COMMANDS\n";
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(program)) {
    text += entry("\\fB" + roff(command->get_name()) + "\\fR", command->get_description());
    if (command->get_name() != "help") names.push_back("ingot-" + command->get_name());
  }
  text += options_section(program, "OPTIONS OF EVERY COMMAND");
  return text + ".SH NOTES\n" + verbatim(program.get_footer()) + see_also(names);
}

std::string command_page(CLI::App& program, const CLI::App& command) {
  std::string text = heading("ingot-" + command.get_name(), command.get_description());
  text += ".SH SYNOPSIS\n.B ingot " + roff(command.get_name()) + "\n[\\fIOPTIONS\\fR]\n";
  std::string arguments;
  for (const CLI::Option* option : positionals(command)) {
    const std::string term = "\\fI" + roff(positional_term(*option)) + "\\fR";
    text += term + "\n";
    arguments += entry(term, option->get_description());
  }
  if (!arguments.empty()) text += ".SH ARGUMENTS\n" + arguments;
  text += options_section(command, "OPTIONS");
  text += options_section(program, "OPTIONS OF EVERY COMMAND");
  if (!command.get_footer().empty()) text += ".SH NOTES\n" + verbatim(command.get_footer());
  return text + see_also({"ingot"});
}

}  // namespace

std::string manual_page(CLI::App& program, const CLI::App* command) {
  return ".\\\" SPDX-License-Identifier: MIT\n" +
         (command == nullptr ? program_page(program) : command_page(program, *command));
}

}  // namespace ingot::cli
