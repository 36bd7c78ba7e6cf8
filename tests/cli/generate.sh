# SPDX-License-Identifier: MIT
# Manual pages and completions say what the help says, and the shells understand them.
"$ingot" --help >help
commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' help)
for shell in bash zsh fish; do
  "$ingot" --generate "$shell" >"ingot.$shell"
  for word in $commands threads color; do
    grep -q -e "$word" "ingot.$shell" || fail "$shell: no $word"
  done
  if command -v "$shell" >/dev/null; then "$shell" -n "ingot.$shell"; fi
done
expect_error 2 'man:COMMAND' "$ingot" --generate nonsense
grep -q generate help && fail "help names what is not for people"

# complete WORD...: what bash offers for the last word.
complete_bash() {
  # shellcheck disable=SC2016
  bash -c 'source ./ingot.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ingot
    printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort | paste -sd ' '
}
touch one.gguf
[[ $(complete_bash ingot ten) == tensors ]] || fail "no command"
[[ $(complete_bash ingot -j 2 ten) == tensors ]] || fail "the number of threads is no command"
[[ $(complete_bash ingot tensors --sort '') == "name offset size" ]] || fail "no words"
[[ $(complete_bash ingot tensors --so) == --sort ]] || fail "no option"
[[ $(complete_bash ingot show --io '') == "mmap read" ]] || fail "no words of a common option"
[[ $(complete_bash ingot show one) == one.gguf ]] || fail "no file"
[[ $(complete_bash ingot help ext) == extract ]] || fail "help takes commands"
[[ -z $(complete_bash ingot show -j '') ]] || fail "a number was guessed"

if command -v fish >/dev/null; then
  complete_fish() {
    HOME=$PWD fish --no-config -c "source ingot.fish; complete -C '$*'" 2>/dev/null | cut -f 1 | sort | paste -sd ' '
  }
  [[ $(complete_fish ingot ten) == tensors ]] || fail "fish: no command: $(complete_fish ingot ten)"
  [[ $(complete_fish ingot tensors --sort '') == "name offset size" ]] || fail "fish: no words"
  [[ $(complete_fish ingot tensors --so) == --sort ]] || fail "fish: no option"
  [[ $(complete_fish ingot show one) == one.gguf ]] || fail "fish: no file"
fi

"$ingot" --generate man >ingot.1
for command in $commands; do
  "$ingot" --generate "man:$command" >"ingot-$command.1"
  grep -q "^ingot.-$command .- " "ingot-$command.1" || fail "no name: $command"
done
if command -v mandoc >/dev/null; then
  # No date is right: the same source makes the same page.
  mandoc -T lint -W warning ./*.1 | grep -v -e 'missing date' -e 'referenced manual not found' >lint || true
  [[ ! -s lint ]] || fail "$(cat lint)"
fi
if command -v groff >/dev/null; then
  groff -man -T ascii -ww ./*.1 >page 2>errors
  [[ ! -s errors ]] || fail "$(head -n 5 errors)"
fi
