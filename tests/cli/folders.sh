# SPDX-License-Identifier: MIT
# A model folder of Hugging Face is a model for every command that reads: that which its import would make.
"$ingot" sample m.gguf --layers 2 --type F16 -q
"$ingot" convert m.gguf Tiny-Llama --names hf -q
"$ingot" convert Tiny-Llama made.gguf -q 2>/dev/null
echo 'the quick brown fox jumps over the lazy dog, and over it again and again until the text is long' >text
for i in 1 2 3 4 5 6; do cat text text >more && mv more text; done

# same COMMAND ARGUMENT...: FOLDER and FILE stand for the two.
same() {
  "$ingot" "${@//MODEL/made.gguf}" >of_file 2>/dev/null || fail "of the file: $*"
  "$ingot" "${@//MODEL/Tiny-Llama}" >of_folder 2>/dev/null || fail "of the folder: $*"
  sed -i 's/Tiny-Llama/made.gguf/g' of_folder
  sed -i 's/Tiny-Llama/made.gguf/g' of_file
  expect_same of_file of_folder
}
same metadata MODEL
same tensors MODEL --json
same fit MODEL -d 24G --json
same tokenize MODEL 'hello there'
same detokenize MODEL 1 2 3
same vocab MODEL
same hash MODEL
same hash MODEL --no-file
same evaluate MODEL --text text --ctx-size 64 --chunks 1 --json
same diff MODEL made.gguf --data
# What writes, too: shards load, and a tensor has the name that `tensors` lists.
"$ingot" extract Tiny-Llama output.weight -o of_folder.raw
"$ingot" extract made.gguf output.weight -o of_file.raw
expect_same of_folder.raw of_file.raw
"$ingot" split Tiny-Llama parts --shards 2 -q
"$ingot" split made.gguf expected --shards 2 -q
for i in 1 2; do expect_same parts-0000$i-of-00002.gguf expected-0000$i-of-00002.gguf; done
"$ingot" show Tiny-Llama --json >show.json
python 'import json
shown = json.load(open("show.json"))
assert shown["file_name"].endswith("-F16.gguf") and shown["model"]["architecture"] == "llama", shown'
"$ingot" show Tiny-Llama | grep -q 'what `ingot convert` makes of it' || fail "show does not say what it shows"
"$ingot" report Tiny-Llama -o report.html -q
expect_error 2 'it is an input' "$ingot" report Tiny-Llama -o Tiny-Llama/config.json --force

# One that cannot be imported opens as its weights, which is said.
python 'import json
config = json.load(open("Tiny-Llama/config.json"))
config["architectures"] = ["NobodyKnowsForCausalLM"]
json.dump(config, open("Tiny-Llama/config.json", "w"))'
"$ingot" tensors Tiny-Llama >list 2>message
grep -q 'cannot be imported' message || fail "no remark: $(cat message)"
grep -q 'model.embed_tokens.weight' list || fail "no weights: $(cat list)"

# A tokenizer without merges has an empty list of them, without which engines do not load the model.
"$ingot" sample qwen.gguf --arch qwen2 --layers 1 -q
"$ingot" convert qwen.gguf no-merges --names hf -q 2>/dev/null
rm -f no-merges/merges.txt
python 'import json
tokenizer = json.load(open("no-merges/tokenizer.json"))
tokenizer["model"]["merges"] = []
json.dump(tokenizer, open("no-merges/tokenizer.json", "w"))'
"$ingot" convert no-merges no-merges.gguf 2>message
grep -q 'no merges; an empty list is written' message || fail "no remark: $(cat message)"
"$ingot" metadata no-merges.gguf tokenizer.ggml.merges | grep -q merges || fail "no key"
"$ingot" tokenize no-merges.gguf hello >/dev/null

# No name is the folder of the process, whatever lies there.
for command in show check tensors; do
  (cd Tiny-Llama && expect_error 2 'the name of the file is empty' "$ingot" $command '')
done
