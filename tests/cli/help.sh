# SPDX-License-Identifier: MIT
# Help for every command, with examples, in 80 columns.
"$ingot" --help >all
"$ingot" help >same
expect_same all same
commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' all)
[[ $(wc -w <<<"$commands") -ge 6 ]] || fail "commands: $commands"
for command in $commands; do
  "$ingot" help "$command" >one 2>errors
  "$ingot" "$command" --help >other
  expect_same one other
  [[ ! -s errors ]] || fail "stderr: $(cat errors)"
  grep -q "^Usage: ingot $command" one || fail "no usage: $command"
  [[ $command == help ]] || grep -q '^Examples:' one || fail "no examples: $command"
  awk 'length > 80 { print; exit 1 }' one || fail "a long line: $command"
done

# Commands stand in groups, and none is missing from them.
grep -qx 'To trust:' all || fail "no groups"
[[ $(sed -n 's/^INGOT_COMMAND(\(.*\))/\1/p' "$tests/../../tools/ingot/commands.def" | wc -l) == \
  $(sed -n '/^Commands:/,/^$/p' all | grep -c '^  [a-z]') ]] || fail "a command is in no group"
