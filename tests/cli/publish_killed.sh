# SPDX-License-Identifier: MIT
# A release that is killed at whatever point, or finds the disk full, and is begun again: the same folder.
"$ingot" sample model.gguf --layers 1 --embedding 64 --feed-forward 64 --vocab 300 -q
printf 'source: model.gguf\ntypes: [Q8_0, Q4_0]\noutput: out\nshards: 2\n' >release.yaml
export original=$PWD
cp model.gguf release.yaml "$(mkdir whole && echo whole)"
(cd whole && "$ingot" publish release.yaml -q)
setup='cp -p "$original"/model.gguf "$original"/release.yaml .'
check='
"$ingot" publish release.yaml -q
diff -r out "$original/whole/out"
(cd out && sha256sum -c --quiet SHA256SUMS)
'
modes=(--times 5)
[[ -z $kill_library ]] || modes+=(--calls "$kill_library" --full "$kill_library")
python3 "$tests/kill_at_random.py" --setup "$setup" --check "$check" "${modes[@]}" \
  -- "$ingot" publish release.yaml -j 2 -q
