// SPDX-License-Identifier: MIT
// The completions of shells, which all ask the program itself (completion/completion.hpp).
#include "cli/generated_texts.hpp"

namespace ingot::cli {

std::string bash_completion() {
  return R"(# SPDX-License-Identifier: MIT
# bash completion for ingot, which knows the words itself
_ingot() {
  local lines line
  mapfile -t lines < <("$1" --complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
  COMPREPLY=()
  for line in "${lines[@]:1}"; do
    printf -v line %q "${line%%$'\t'*}"
    COMPREPLY+=("$line")
  done
  if [[ ${#COMPREPLY[@]} == 0 && ${lines[0]} == files* ]]; then
    compopt -o default
  elif [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then
    compopt -o nospace
  fi
}
complete -F _ingot ingot
)";
}

std::string zsh_completion() {
  return R"(#compdef ingot
# SPDX-License-Identifier: MIT
# zsh completion for ingot, which knows the words itself
_ingot() {
  local -a lines whole begun
  local line word match='m:{a-zA-Z}={A-Za-z}'
  lines=("${(@f)$(${~${(Q)words[1]}} --complete words "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  for line in "${(@)lines[2,-1]}"; do
    word=${line%%$'\t'*}
    line=${word//:/\\:}:${line#*$'\t'}
    if [[ $word == *= ]]; then begun+=("$line"); else whole+=("$line"); fi
  done
  (( $#whole )) && _describe -t words word whole -M "$match"
  (( $#begun )) && _describe -t words word begun -M "$match" -S ''
  if [[ $lines[1] == files$'\t'* ]]; then
    compset -P "${(b)${lines[1]#*$'\t'}}"
    _files
  fi
}
if [[ $funcstack[1] == _ingot ]]; then _ingot "$@"; else compdef _ingot ingot; fi
)";
}

std::string fish_completion() {
  return R"(# SPDX-License-Identifier: MIT
# fish completion for ingot, which knows the words itself
function __ingot_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l program $words[1]
  set -e words[1]
  set -l lines ($program --complete words $words (string unescape -- $current; or echo) 2>/dev/null)
  test (count $lines) -gt 1; and printf '%s\n' $lines[2..-1]
  set -l kind (string split -m 1 \t -- "$lines[1]")
  if test "$kind[1]" = files
    set -l start (string length -- "$kind[2]")
    for path in (__fish_complete_path (string sub -s (math $start + 1) -- $current))
      echo "$kind[2]$path"
    end
  end
end
complete -c ingot -f -a '(__ingot_complete)'
)";
}

}  // namespace ingot::cli
