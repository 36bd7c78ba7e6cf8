# SPDX-License-Identifier: MIT
# Options of every command: before it and after it, with the same effect.
"$ingot" sample model.gguf -q
"$ingot" --json show model.gguf >before
"$ingot" show model.gguf --json >after
expect_same before after
"$ingot" show --color always model.gguf | grep -q $'\x1b\[' || fail "no colour on request"
NO_COLOR=1 "$ingot" show --color always model.gguf | grep -q $'\x1b\[' || fail "always is always"
for command in show metadata tensors anatomy help; do
  argument=model.gguf
  [[ $command != help ]] || argument=show
  "$ingot" "$command" "$argument" >plain
  ! grep -q $'\x1b' plain || fail "colour in a pipe: $command"
  "$ingot" "$command" "$argument" --color always | sed $'s/\x1b\[[0-9]*m//g' >stripped
  expect_same plain stripped
done

# Both ways of reading, and both byte orders, say the same.
"$ingot" sample big.gguf --endian big -q
for command in show metadata tensors anatomy; do
  for options in '' '--json' '--lenient' '-j 1' '-v'; do
    # shellcheck disable=SC2086
    "$ingot" "$command" big.gguf $options --io mmap >mapped 2>/dev/null
    # shellcheck disable=SC2086
    "$ingot" "$command" big.gguf $options --io read >read 2>/dev/null
    expect_same mapped read
  done
done
"$ingot" metadata model.gguf --json >little
"$ingot" metadata big.gguf --json >big
expect_same little big

"$ingot" -v show model.gguf 2>&1 >/dev/null | grep -q 'opened in' || fail "-v says nothing"
[[ -z $("$ingot" -q -v show model.gguf 2>&1 >/dev/null) ]] || fail "-q is not quiet"
[[ $("$ingot" --version) == "ingot "[0-9]*.[0-9]*.[0-9]* ]] || fail "version"

# A file may be called like a command or an option.
cp model.gguf tensors
cp model.gguf ./--json
expect 0 "$ingot" show tensors >/dev/null
expect 0 "$ingot" tensors tensors >/dev/null
expect 0 "$ingot" show -- --json >/dev/null
