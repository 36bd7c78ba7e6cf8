# SPDX-License-Identifier: MIT
# Manual pages say what the help says. Completions: completion.sh.
"$ingot" --help >help
commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' help)
expect_error 2 'man:COMMAND' "$ingot" --generate nonsense
grep -q generate help && fail "help names what is not for people"

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
