# SPDX-License-Identifier: MIT
# Thirty files of five families under names that say nothing: all pairs are found, and no wrong one.
mkdir -p made shuffled
make_family() {  # NAME ARCH PROJECTOR WIDTH
  local slug=${1// /-}
  for type in F16 Q8_0; do
    "$ingot" sample "made/$slug-$type.gguf" --arch "$2" --embedding "$4" --layers 1 --type $type -q
    "$ingot" edit "made/$slug-$type.gguf" --in-place -q --set "general.name=$1"
  done
  # Two that were made of the model, as their base models say, once by name and once by address.
  for base in name repo_url; do
    local value=$1
    [ $base = name ] || value="https://hub.example/$slug"
    "$ingot" edit "made/$slug-F16.gguf" -o "made/$slug-$base.gguf" -q --set "general.name=Tuned by ${1:0:2}" \
      --set general.base_model.count:uint32=1 --set "general.base_model.0.$base:string=$value"
  done
  for type in F32 F16; do
    "$ingot" sample --architecture clip --projector "$3" "made/$slug-mmproj-$type.gguf" \
      --embedding "$4" --type $type -q
    "$ingot" edit "made/$slug-mmproj-$type.gguf" --in-place -q --set "general.name=$1"
  done
}
make_family 'Alpha VL 7B' llama gemma3 256
make_family 'Beta VL 7B' llama pixtral 256
make_family 'Gamma Omni 2B' qwen2 qwen2.5o 320
make_family 'Delta Eye' llama internvl 512
make_family 'Epsilon 3' qwen2 idefics3 384
python '
import os, random
files = sorted(os.listdir("made"))
assert len(files) == 30, files
random.Random(7).shuffle(files)
with open("names", "w") as names:
    for number, file in enumerate(files):
        os.link(f"made/{file}", f"shuffled/{number:02}.gguf")
        names.write(f"{number:02}.gguf {file}\n")
'
"$ingot" ls shuffled --pairs --json >pairs.json
python '
import json
names = dict(line.split() for line in open("names"))
pairs = json.load(open("pairs.json"))
families = {}
for pair in pairs:
    model, projector = (names[pair[key].split("/")[-1]] for key in ("model", "projector"))
    assert pair["match"] == "same" and "mmproj" in projector and "mmproj" not in model, pair
    assert model.split("-")[0] == projector.split("-")[0], (model, projector)
    families.setdefault(model.split("-")[0], []).append((model, projector))
assert len(families) == 5 and all(len(set(found)) == 8 for found in families.values()), families
'
# For people: below the listing, and what has no partner.
"$ingot" show shuffled >listed
grep -q '^model .*projector .*match' listed || fail "no pairs: $(cat listed)"
mkdir lonely
"$ingot" sample --architecture clip lonely/mmproj.gguf -q
"$ingot" ls lonely --pairs | grep -q '^- .*mmproj.gguf .*none is here' || fail "no lonely one"
[ "$("$ingot" ls lonely --pairs --json)" = '[
  {"model": null, "projector": "lonely/mmproj.gguf", "match": null}
]' ] || fail "$("$ingot" ls lonely --pairs --json)"

# Without DIR those of the stores of this system, as all of ls.
HOME=$PWD/nobody XDG_CACHE_HOME='' HF_HOME='' HF_HUB_CACHE='' OLLAMA_MODELS='' LLAMA_CACHE='' \
  INGOT_MODELS=$PWD/lonely "$ingot" ls --pairs --json >stored.json
python 'import json
pair, = json.load(open("stored.json"))
assert pair["model"] is None and pair["projector"].endswith("/lonely/mmproj.gguf"), pair'

# A pair that fits by width alone is told by check.
cd made
"$ingot" check Alpha-VL-7B-F16.gguf --with Alpha-VL-7B-mmproj-F16.gguf --only projector_origin >/dev/null
"$ingot" check Alpha-VL-7B-F16.gguf --with Beta-VL-7B-mmproj-F16.gguf --only projector_origin >found
grep -q 'the projector is of "Beta VL 7B", the model is "Alpha VL 7B"' found || fail "$(cat found)"
expect 1 "$ingot" check Alpha-VL-7B-F16.gguf --with Alpha-VL-7B-mmproj-F16.gguf \
  --only projector_tokens >found
grep -q 'puts "<start_of_image>" around images, and the vocabulary does not have it' found ||
  fail "$(cat found)"
"$ingot" check Alpha-VL-7B-F16.gguf --with Alpha-VL-7B-mmproj-F16.gguf --only projector_template >found
grep -q 'does not speak of what the projector takes' found || fail "$(cat found)"
