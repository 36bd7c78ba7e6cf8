# SPDX-License-Identifier: MIT
# Wrong usage: status 2 and one line that says what is right.
"$ingot" sample model.gguf -q
usage() { expect_error 2 "$@"; }
usage 'a command is missing' "$ingot" --json
# Nothing: the overview. A file: what it is. What other tools call it: what it is called here.
"$ingot" | grep -q '^  *quantize' || fail "no overview"
"$ingot" model.gguf --json >alone.json
"$ingot" show model.gguf --json >shown.json
expect_same alone.json shown.json
"$ingot" --json --color never model.gguf >alone.json
expect_same alone.json shown.json
"$ingot" --all model.gguf >/dev/null
usage 'show: there is no option "--jsno"; did you mean "--json"?' "$ingot" --jsno model.gguf
usage 'there is no file "other.gguf"' "$ingot" other.gguf
usage "there is no option \"--merge\"; use 'ingot merge'" "$ingot" --merge a b
usage "there is no option \"--sha1\"; use 'ingot hash --algorithm sha1'" "$ingot" --sha1 model.gguf
usage "there is no option \"--split-max-size\"; use 'ingot split --max-size'" "$ingot" --split-max-size=1G a
[[ $("$ingot" -V) == "$("$ingot" --version)" ]] || fail "-V"
"$ingot" --version --verbose >facts
[[ $(head -n 1 facts) == "$("$ingot" --version)" ]] || fail "another first line: $(cat facts)"
for fact in compiler system kernels remote libraries; do
  grep -q "^$fact  *[^ ]" facts || fail "no $fact: $(cat facts)"
done
usage "there is no command \"verify\"; use 'ingot hash --verify'" "$ingot" verify model.gguf
usage "there is no command \"dump\"; use 'ingot metadata'" "$ingot" help dump
usage 'no option "--split-max-size"; here it is --max-size' "$ingot" split --split-max-size 2G a b
usage 'no option "--sha1"; here it is --algorithm sha1' "$ingot" hash --sha1 model.gguf
usage 'there is no command "shwo"; did you mean "show"?' "$ingot" shwo model.gguf
usage 'there is no command "shwo"' "$ingot" shwo --help
usage 'there is no command "frobnicate"' "$ingot" help frobnicate
usage 'FILE is missing; the usage is: ingot show [OPTIONS] FILE...' "$ingot" show
usage 'OUT is missing' "$ingot" sample
usage 'there is no option "--jsno"; did you mean "--json"?' "$ingot" show --jsno model.gguf
usage 'there is no option "--sort"' "$ingot" show --sort name model.gguf
usage '--io must be mmap or read, not "foo"' "$ingot" show --io foo model.gguf
usage '--color must be auto, always or never' "$ingot" --color=red show model.gguf
usage '--sort needs a value' "$ingot" tensors model.gguf --sort
usage '--json takes no value' "$ingot" show --json=1 model.gguf
usage '--limit must be a whole number' "$ingot" anatomy model.gguf --limit many
usage '--threads must be a whole number from 1' "$ingot" -j 0 show model.gguf
usage 'one argument too many' "$ingot" sample one.gguf two.gguf
usage 'there is no --json' "$ingot" sample one.gguf --json
usage 'OUT must be a file' "$ingot" sample -
usage '--params must be a number like 350M' "$ingot" sample one.gguf --params large
usage 'multiple of the heads' "$ingot" sample one.gguf --heads 7
usage 'multiple of the key-value heads' "$ingot" sample one.gguf --heads 8 --kv-heads 3
usage '--experts goes with --arch llama' "$ingot" sample one.gguf --arch qwen2 --experts 2
usage 'at least 259 tokens' "$ingot" sample one.gguf --vocab 258
usage '--force replaces it' "$ingot" sample model.gguf
# What an argument holds cannot drive the terminal.
usage 'there is no command "\x1b[31m"' "$ingot" $'\x1b[31m'
[[ ! -e one.gguf ]] || fail "wrong usage made a file"
usage "no option \"--delete-splits\"; here it is 'rm' after" "$ingot" merge --delete-splits a b
usage "no option \"--output-format\"; here it is 'ingot imatrix convert" "$ingot" imatrix show a --output-format dat
usage "no option \"--markdown\"; here it is 'ingot ls --markdown'" "$ingot" show model.gguf --markdown
usage 'no option "--no-layer"; here it is --no-tensors' "$ingot" hash --no-layer model.gguf
usage '"-d" is one operand too many: "--" ends the options; write those before it' "$ingot" tokenize -- model.gguf text -d 24G
# Lists that have no end.
usage 'it has more than 1.00 MiB' "$ingot" quantize model.gguf out.gguf Q8_0 --tensor-type-file /dev/zero
expect_error 3 'it has more than 64.0 MiB' "$ingot" check model.gguf --baseline /dev/zero
expect_error 3 'it has more than 64.0 MiB' "$ingot" hash model.gguf --verify /dev/zero

expect_error 2 "'ingot convert FOLDER OUT'" "$ingot" import
expect_error 2 "'ingot metadata FILE KEY'" "$ingot" get
expect_error 2 "'ingot download'" "$ingot" pull
expect 2 "$ingot" show model.gguf -Z 2>message
if grep -q 'did you mean' message; then fail "a letter is no near word: $(cat message)"; fi
printf 'GGU' >short.gguf
expect 3 "$ingot" show short.gguf 2>message
[[ $(grep -o 'again in full' message | wc -l) -le 1 ]] || fail "advice twice: $(cat message)"

# What people run into: a name like an option, a file that is cut off, a folder that is missing.
"$ingot" sample ./-dash.gguf -q
expect_error 2 'the file "-dash.gguf" is written ./-dash.gguf' "$ingot" show -dash.gguf
head -c 3000000 ./-dash.gguf >short.gguf
expect_error 3 '--header-only shows its header' "$ingot" show short.gguf
expect_error 4 'its folder is missing' "$ingot" quantize ./-dash.gguf nowhere/out.gguf Q8_0
