# SPDX-License-Identifier: MIT
# Will it run: the verdict, what would fit, and every term. The sums themselves: tests/estimate.
"$ingot" sample model.gguf --layers 4 --embedding 512 --feed-forward 1024 --heads 8 --kv-heads 2 \
  --vocab 32000 --context 32768 --type Q8_0 -q
export COLUMNS=80
"$ingot" fit model.gguf
"$ingot" fit model.gguf -d 1G --ctx-size 8k
expect 1 "$ingot" fit model.gguf -d 150M
"$ingot" fit model.gguf -d 150M,150M --host 1G -c 8k --parallel 2 --cache-type-k q8_0
"$ingot" fit model.gguf -d 128M --markdown --contexts 4k,32k --types Q4_K_M,Q8_0

# No line is too long, and nothing else is on stderr.
for columns in 60 80 140; do
  COLUMNS=$columns "$ingot" fit model.gguf -d rtx-4090,rtx-3060 --bandwidth 1T >page 2>errors
  [[ ! -s errors ]] || fail "stderr: $(cat errors)"
  ((columns < 80)) || awk -v most="$columns" 'length > most { exit 1 }' page || fail "too wide"
done

# Every term, and they add up.
expect 1 "$ingot" fit model.gguf -d 150M --json >fit.json
python '
import json
fit = json.load(open("fit.json"))
assert fit["verdict"] == "does_not_fit" and fit["fits"] is False
assert fit["context"] == 32768 and fit["context_per_sequence"] == 32768
for place in fit["devices"] + [fit["host"]]:
    assert place["total_bytes"] == sum(
        place[part + "_bytes"] for part in ("weights", "cache", "compute", "output", "projector"))
assert sum(p["cache_bytes"] for p in fit["devices"] + [fit["host"]]) == fit["cache_bytes"]
assert sum(c["key_bytes"] + c["value_bytes"] for c in fit["caches"]) == fit["cache_bytes"]
assert fit["cache_bytes"] == 4 * 32768 * 2 * (64 + 64) * 2
assert fit["devices"][0]["fits"] is False and fit["host"]["fits"] is None
kinds = [change["kind"] for change in fit["advice"]["changes"]]
assert "gpu_layers" in kinds and "ctx_size" in kinds, kinds
assert fit["advice"]["context"] < 32768
'
# What advice names fits, as it stands.
"$ingot" fit model.gguf -d 150M --json 2>/dev/null |
  python 'import json, sys
for change in json.load(sys.stdin)["advice"]["changes"]:
    if change["options"]: print(change["options"])' >changes || true
[[ $(wc -l <changes) -ge 2 ]] || fail "no changes"
while read -ra options; do
  "$ingot" fit model.gguf -d 150M "${options[@]}" >/dev/null || fail "does not fit: ${options[*]}"
done <changes
"$ingot" fit model.gguf -d 150M --max-context --json | grep -q '"verdict": "tight"' || fail "context"

# The command of the engine; a header alone; a projector beside the model.
[[ $("$ingot" fit model.gguf -d 1G -c 4k --flash-attn on --for llama.cpp) == \
  "llama-server --model model.gguf --ctx-size 4096 --flash-attn on --gpu-layers 5" ]] || fail "command"
# llama.cpp's short spellings mean its long ones.
"$ingot" fit model.gguf -d 1G -c 4k -np 2 -ub 256 -ctk q8_0 -ctv q8_0 -fa on -kvu -ngl 2 --json >a.json
"$ingot" fit model.gguf --device 1G --ctx-size 4k --parallel 2 --ubatch-size 256 --cache-type-k q8_0 \
  --cache-type-v q8_0 --flash-attn on --kv-unified --gpu-layers 2 --json >b.json
expect_same a.json b.json
expect_error 2 'no option "-ngl"' "$ingot" show model.gguf -ngl 2
cp model.gguf "a 'model'.gguf"
"$ingot" fit "a 'model'.gguf" -c 4k --for llama.cpp | grep -qF "'a '\\''model'\\''.gguf'" ||
  fail "quoting"
head -c "$("$ingot" show model.gguf --json | python 'import json, sys
print(json.load(sys.stdin)["format"]["data_offset"])')" model.gguf >model.head
"$ingot" fit model.head --json 2>remark | sed 's/model.head/model.gguf/' >header.json
grep -q "header is enough" remark || fail "no remark"
"$ingot" fit model.gguf --json >whole.json
expect_same header.json whole.json
cp model.gguf mmproj.gguf
"$ingot" edit mmproj.gguf --set general.type=mmproj --in-place -q
"$ingot" fit model.gguf -d 1G --mmproj mmproj.gguf --json >a.json
"$ingot" fit model.gguf -d 1G --with mmproj.gguf --json >b.json
expect_same a.json b.json
"$ingot" fit model.gguf -d 1G --with mmproj.gguf --json | python 'import json, sys
device = json.load(sys.stdin)["devices"][0]
assert device["projector_bytes"] > 0'
"$ingot" fit model.gguf -d 1G --mmproj mmproj.gguf --for llama.cpp 2>/dev/null |
  grep -q '^llama-server --model model.gguf --mmproj mmproj.gguf --ctx-size' || fail "no projector"
"$ingot" sample vision.gguf --architecture clip --projector qwen3vl_merger -q
"$ingot" fit model.gguf --with vision.gguf 2>&1 >/dev/null | grep -q "images have width 256, the model takes 512" ||
  fail "no word of a projector that does not fit"
"$ingot" fit vision.gguf 2>&1 >/dev/null | grep -q "it is a projector.*fit MODEL --with vision.gguf" ||
  fail "a projector was taken for a model"
"$ingot" fit --list-devices | grep -q rtx-4090 || fail "no devices"
"$ingot" fit --list-devices --json | python 'import json, sys
assert len(json.load(sys.stdin)) > 50'

expect_error 2 "FILE is missing" "$ingot" fit
expect_error 2 "a device is a size like 24G" "$ingot" fit model.gguf -d 24X
expect_error 2 "is not a number of tokens" "$ingot" fit model.gguf -c much
"$ingot" fit model.gguf --gpu-layers 2 2>&1 >/dev/null | grep -q "says nothing without --device" || fail "no remark"
expect_error 2 "is not a number of layers" "$ingot" fit model.gguf --gpu-layers some
expect_error 2 "is not a list of shares" "$ingot" fit model.gguf -d 1G --tensor-split a
expect_error 2 "is not a list of shares" "$ingot" fit model.gguf -d 1G --tensor-split "1,$(printf "9%.0s" {1..400})"
expect_error 2 "is not a rate" "$ingot" fit model.gguf -d 1G --bandwidth fast
expect_error 2 "needs a --device" "$ingot" fit model.gguf --max-context
expect_error 2 "no quantization" "$ingot" fit model.gguf --table --types Q99
expect_error 2 "flash attention" "$ingot" fit model.gguf --cache-type-v q8_0 --flash-attn off
expect_error 2 "neither an adapter" "$ingot" fit model.gguf --with model.gguf
"$ingot" edit model.gguf --remove llama.attention.head_count -o hostile.gguf -q
expect_error 3 "llama.attention.head_count" "$ingot" fit hostile.gguf

# Devices as people write them: bare numbers of GiB, MiB and cards, names with spaces.
for pair in 8=8G 7.5=7.5G 12288=12288M 3090=rtx-3090 'RTX 4060=rtx-4060' rtx4060=rtx-4060 \
  'RTX 2060 Super=rtx-2060-s' 'RX 580=rx-580' 'DGX Spark=dgx-spark' 'AMD Ryzen AI Max+ 395=strix-halo-128' \
  'RTX 5060=rtx-5060' 9060xt=rx-9060-xt; do
  "$ingot" fit model.gguf -d "${pair%%=*}" --json >short.json || true
  "$ingot" fit model.gguf -d "${pair#*=}" --json >full.json || true
  expect_same short.json full.json
done
expect_error 2 'one card or two: write 8.5GB or 8G,5GB' "$ingot" fit model.gguf -d "8,5 GB"
"$ingot" fit model.gguf -d 8,16GB >/dev/null
# The cards and the host of this machine; what is free of them changes from call to call.
LD_LIBRARY_PATH=$(dirname "$ingot")/../tests/fake_nvml "$ingot" fit model.gguf -d auto --json >auto.json
python '
import json
fit = json.load(open("auto.json"))
first, second = fit["devices"][:2]
assert (first["name"], first["capacity_bytes"]) == ("NVIDIA GeForce RTX 4090", 23 << 30), first
assert (second["name"], second["capacity_bytes"]) == ("NVIDIA Laptop", 7 << 30), second
assert fit["host"]["capacity_bytes"] > 1 << 20
'
"$ingot" fit model.gguf -d auto --host 1G --json 2>/dev/null | python 'import json, sys
assert json.load(sys.stdin)["host"]["capacity_bytes"] == 1 << 30'
# Why it is slow: what a token reads, from where, and what helps.
COLUMNS=200 "$ingot" fit model.gguf -d rtx-4090 --gpu-layers 2 >slow.txt
grep -q 'not bounded: the bandwidth of a place is not known' slow.txt || fail "$(cat slow.txt)"
COLUMNS=200 "$ingot" fit model.gguf -d rtx-4090 --gpu-layers 2 --host-bandwidth 50G >slow.txt
grep -q 'each token reads .* of weights: .* in GeForce RTX 4090 (.* ms), .* in host (.* ms)' slow.txt ||
  fail "$(cat slow.txt)"
grep -q 'faster: fewer bytes on the host' slow.txt || fail "$(cat slow.txt)"
COLUMNS=200 "$ingot" fit model.gguf -d rtx-4090 | grep -q 'twice as fast: half the bytes' || fail "no advice"
expect_error 2 'did you mean m3-max-48, m3-max-64' "$ingot" fit model.gguf -d m3-max
"$ingot" fit model.gguf -d 1G --table --contexts 4k --types Q8_0 >old
"$ingot" fit model.gguf -d 1G --markdown --contexts 4k --types Q8_0 >new
expect_same old new

# Bare numbers mean what people mean; the engine's context is a multiple of 256, which is said.
"$ingot" fit model.gguf -d 24 --host 64.5 --bandwidth 936 --host-bandwidth 60.5 -c 4k --json >bare.json
"$ingot" fit model.gguf -d 24G --host 64.5G --bandwidth 936G --host-bandwidth 60.5G -c 4k --json >full.json
expect_same bare.json full.json
"$ingot" fit model.gguf -c 100 | grep -q '256 tokens; 100 rounded up to a multiple of 256' || fail "no word of 256"
[[ $("$ingot" fit model.gguf -c 4096) != *rounded* ]] || fail "rounded without a reason"
expect_error 2 'did you mean 2G' "$ingot" split model.gguf parts --max-size 2

# Several models are a table of a line each, or an array; a set is one model, and what cannot be read is named.
"$ingot" sample small.gguf --layers 1 -q
"$ingot" split small.gguf parts --shards 2 -q
expect 1 "$ingot" fit model.gguf small.gguf parts-*.gguf -d 150M >table
for line in 'model  *verdict  *in all' 'model.gguf  *does not fit' 'small.gguf  *fits' 'parts-00001-of-00002.gguf  *fits'; do
  grep -q "^$line " table || fail "no line of $line: $(cat table)"
done
[[ $(wc -l <table) == 4 ]] || fail "other lines: $(cat table)"
expect 4 "$ingot" fit small.gguf missing.gguf -d 1G --json >several.json 2>said
grep -q '^ingot: missing.gguf: .*No such file' said || fail "$(cat said)"
"$ingot" fit small.gguf -d 1G --json >one.json
python 'import json
there, missing = json.load(open("several.json"))
assert there == json.load(open("one.json")), there
assert missing["file"] == "missing.gguf" and missing["error"]["rule"] == "io_error", missing'
expect_error 2 'about one model' "$ingot" fit small.gguf model.gguf --markdown
