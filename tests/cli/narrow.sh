# SPDX-License-Identifier: MIT
# Lines fit the terminal, names stay distinct there, words stay whole; a program that reads gets
# everything; verdicts and differences have colours.
"$ingot" sample a.gguf --layers 11 --embedding 64 --feed-forward 96 --vocab 300 -q
"$ingot" quantize a.gguf b.gguf Q8_0 -q
long='A name that is much longer than any terminal is wide, so that it has to be cut there, and ends in THE END'
"$ingot" edit a.gguf -o long.gguf --set general.name="$long" -q

for columns in 60 80 140; do
  export COLUMNS=$columns
  for command in 'show long.gguf' 'metadata long.gguf' 'tensors a.gguf' 'tensors a.gguf --stats' \
    'anatomy a.gguf --limit 30' 'check a.gguf' 'fit a.gguf' 'quantize a.gguf --plan Q4_K_M' 'types' \
    'split a.gguf out --max-size 100K --dry-run' 'vocab a.gguf --stats' \
    'help edit' 'help quantize' 'help chat' '--help'; do
    # shellcheck disable=SC2086
    "$ingot" $command >lines
    awk -v most="$columns" 'length > most { print; bad = 1 } END { exit bad }' lines ||
      fail "$command at $columns columns"
  done
  expect 1 "$ingot" diff long.gguf b.gguf >lines
  awk -v most="$columns" 'length > most { print; bad = 1 } END { exit bad }' lines || fail "diff"
  "$ingot" tensors a.gguf | sed '1d;$d;s/  .*//' | sort | uniq -d >twice
  [[ ! -s twice ]] || fail "the same shortened name for two tensors at $columns: $(head -n 1 twice)"
done
unset COLUMNS
# Words of a wrapped sentence are those of the sentence, in their order.
COLUMNS=44 "$ingot" check a.gguf | tr -s ' \n' '\n' >narrow
"$ingot" check a.gguf | tr -s ' \n' '\n' >wide
expect_same narrow wide
# Commands in help still run when they are copied.
COLUMNS=60 "$ingot" help edit | grep -q ' \\$' || fail "no command was continued"

# Nothing is cut where a program reads.
"$ingot" show long.gguf | grep -qF "$long" || fail "show cuts a name"
"$ingot" metadata long.gguf | grep -qF "$long" || fail "metadata cuts a string"
COLUMNS=80 "$ingot" metadata long.gguf general.name | grep -qF 'A name' || fail "metadata in a terminal"
COLUMNS=80 "$ingot" metadata long.gguf | grep -qF 'THE END' && fail "not cut in a terminal"
expect 1 "$ingot" diff a.gguf long.gguf | grep -qF "$long" || fail "diff cuts a string"
name=$(printf 'part.%.0s' {1..11})weight
"$ingot" edit a.gguf -o named.gguf --rename-tensor "output.weight=$name" -q
"$ingot" tensors named.gguf | grep -qF "$name" || fail "tensors cuts a name"
COLUMNS=60 "$ingot" tensors named.gguf | grep -q '^part\..*\.\.\..*part\.weight ' || fail "the end is gone"

red=$'\e[31m' green=$'\e[32m' yellow=$'\e[33m'
"$ingot" check a.gguf --color always | grep -qF "${green}ok" || fail "ok is not green"
"$ingot" edit a.gguf -o odd.gguf --set general.file_type=7 -q
expect 1 "$ingot" check odd.gguf --color always | grep -qF "${yellow}warning" || fail "warning"
head -c 100 a.gguf >cut.gguf
# Where colours do not depend on a theme: amber, which can be read on black and on white.
expect 1 env TERM=xterm-256color "$ingot" check odd.gguf --color always | grep -qF $'\x1b[38;5;130mwarning' ||
  fail "yellow cannot be read on white"
expect 3 "$ingot" check cut.gguf --color always | grep -qF "${red}refused" || fail "refused"
"$ingot" edit a.gguf -o less.gguf --remove general.license --remove-tensor output.weight -q
expect 1 "$ingot" diff a.gguf less.gguf --color always >colours
grep -qF "${red}-" colours || fail "no red -"
expect 1 "$ingot" diff less.gguf a.gguf --color always >colours
grep -qF "${green}+" colours || fail "no green +"
