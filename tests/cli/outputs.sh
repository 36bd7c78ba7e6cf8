# SPDX-License-Identifier: MIT
# OUT may be a folder, which is made, or a pattern; what was written is said in one line on stderr; and what
# people type by mistake is answered with what they meant.
export HOME=$PWD/home
"$ingot" sample model-F16.gguf --layers 1 --embedding 64 --feed-forward 128 --vocab 300 -q
"$ingot" split model-F16.gguf set --shards 2 -q
echo polyglot | cat model-F16.gguf - >tail.gguf
for i in 1 2 3 4 5 6 7 8; do echo 'the quick brown fox jumps over the lazy dog, again and again'; done >text.txt

# made FILE COMMAND...: the command writes FILE into a folder that it makes, and says so unless it is quiet.
made() {
  local file=$1
  shift
  rm -rf new quiet
  "$ingot" "$@" -o new/ >/dev/null 2>message || fail "$*: $(cat message)"
  [[ -f new/$file ]] || fail "$* makes no $file: $(ls new)"
  grep -q "new/$file" message || [[ $1 == edit ]] || fail "$* does not say what it wrote: $(cat message)"
  "$ingot" "$@" -o quiet/ -q >/dev/null 2>message || fail "$* -q"
  [[ ! -s message ]] || fail "$* -q says: $(cat message)"
}
made set.gguf merge set-00001-of-00002.gguf
made output.weight.bin extract model-F16.gguf output.weight
made output.weight.npy extract model-F16.gguf output.weight --as npy
made tail.gguf repair tail.gguf
made model-F16.gguf edit model-F16.gguf --set general.name=x
made README.md card model-F16.gguf
made model-F16.html report model-F16.gguf
made model-imatrix.gguf imatrix collect model-F16.gguf --text text.txt --ctx-size 32 --chunks 1
made model-sensitivity.json sensitivity model-F16.gguf --text text.txt --ctx-size 32 --chunks 1
"$ingot" edit model-F16.gguf -o none/ --set general.name=x --dry-run -q
[[ ! -e none ]] || fail "a dry run made a folder"
"$ingot" quantize model-F16.gguf Q8_0 -o 'patterns/{name}-{type}.gguf' -q
[[ -f patterns/model-Q8_0.gguf ]] || fail "no folder for a pattern"

# A folder of Hugging Face is no place for what is made of it.
mkdir elsewhere
"$ingot" convert model-F16.gguf elsewhere/hf-model --names hf -q
"$ingot" quantize elsewhere/hf-model Q8_0 -q
[[ -f hf-model-Q8_0.gguf ]] || fail "not here: $(ls . elsewhere)"
"$ingot" hash elsewhere/hf-model >/dev/null 2>message
grep -q 'of the GGUF file that `ingot convert` makes' message || fail "hash says: $(cat message)"
mkdir adapter
echo '{}' >adapter/adapter_config.json
expect_error 3 'ingot convert adapter adapter.gguf --base' "$ingot" lora info adapter

# Padding is explained once a run.
cp model-F16.gguf a.gguf
cp model-F16.gguf b.gguf
"$ingot" edit a.gguf b.gguf --in-place --set general.name='My model' >report
[[ $(grep -c 'every reader skips' report) == 1 ]] || fail "padding: $(cat report)"

expect_error 2 'no option "-x"' "$ingot" show -x
expect_error 2 'for f in *.gguf' "$ingot" quantize a.gguf b.gguf Q8_0 -o all/
"$ingot" fit a.gguf --context 1k --json | grep -q '"context": 1024' || fail "--context"
echo 'source = "a.gguf"' >release.toml
expect_error 2 'recipes are YAML' "$ingot" publish release.toml
expect_error 2 'recipes are YAML' "$ingot" publish .
[[ $("$ingot" vocab a.gguf --grep '<0x4?>*' | wc -l) == 16 ]] || fail "no glob"
[[ $("$ingot" vocab a.gguf --grep 're:^<0x4[01]>$' | wc -l) == 2 ]] || fail "no expression"
