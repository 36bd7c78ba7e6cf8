# SPDX-License-Identifier: MIT
# Two programs that write one set at once: it is one or the other, whatever they do and whichever is
# killed. What `check` can tell of a set of two. $INGOT_ROUNDS: how often; 100 in scripts/nightly.
rounds=${INGOT_ROUNDS:-5}
shape=(--layers 4 --embedding 64 --feed-forward 128 --vocab 300 -q)
mkdir old new out
for age in old new; do
  "$ingot" sample $age.gguf "${shape[@]}" --type F16 --seed ${#age}$([[ $age == old ]] && echo 1 || echo 2)
  "$ingot" split $age.gguf $age/m --shards 4 -q
  "$ingot" quantize $age/m-00001-of-00004.gguf $age/q.gguf Q8_0 --keep-split -q
  "$ingot" convert $age.gguf $age/m.safetensors --max-size 200K -q
done
! cmp -s old/m-00002-of-00004.gguf new/m-00002-of-00004.gguf || fail "the sets are alike"
(($(ls old/*.safetensors | wc -l) > 2)) || fail "not enough shards"

# check_set GLOB: the files in out are all those of old, or all those of new.
check_set() {
  local age
  [[ -z $(find out -name '.*.ingot-old' -o -name '.*.tmp') ]] || fail "left over: $(ls -A out)"
  for age in old new; do
    ls $age/$1 >/dev/null
    for file in $age/$1; do
      cmp -s "$file" "out/${file#*/}" || continue 2
    done
    return 0
  done
  fail "round $round: $1 is of both: $(cd out && sha256sum $1)"
}
write() {
  case $2 in
    split) "$ingot" split $1.gguf out/m --shards 4 --force -q ;;
    quantize) "$ingot" quantize $1/m-00001-of-00004.gguf out/q.gguf Q8_0 --keep-split --force -q ;;
    convert) "$ingot" convert $1.gguf out/m.safetensors --max-size 200K --force -q ;;
  esac
}
for ((round = 1; round <= rounds; ++round)); do
  for work in split quantize convert; do
    # Every second time there is no older set.
    ((round % 2)) || rm -f out/*
    write old $work &
    other=$!
    write new $work
    wait $other
    case $work in
      split) check_set 'm-*.gguf' ;;
      quantize) check_set 'q-*.gguf' ;;
      convert) check_set '*.safetensors*' ;;
    esac
  done
done

# One of the two is killed: the set is the other one's.
if [[ -n $kill_library ]]; then
  for ((round = 1; round <= 4 * rounds; ++round)); do
    rm -rf out && mkdir out
    ((round % 2)) || cp old/m-*.gguf out
    (LD_PRELOAD=$kill_library INGOT_KILL_AT=$((round % 40 + 1)) "$ingot" split old.gguf out/m \
      --shards 4 --force -q || true) 2>/dev/null &
    "$ingot" split new.gguf out/m --shards 4 --force -q
    wait
    # The killed one may have been the last; the next one ends what it began.
    if ! (check_set 'm-*.gguf') 2>/dev/null; then
      for name in old new; do
        for i in 1 2 3 4; do
          file=m-0000$i-of-00004.gguf
          [[ ! -e out/$file ]] || cmp -s out/$file $name/$file || continue 2
        done
        break 1
      done || fail "round $round: of both"
      "$ingot" split new.gguf out/m --shards 4 --force -q
      check_set 'm-*.gguf'
    fi
  done
fi

# A shard of another set, put there by hand.
mix() { rm -rf mixed && mkdir mixed && cp "$1"/m-*.gguf mixed && cp "$2/m-0000$3-of-00004.gguf" mixed; }
"$ingot" check old/m-00001-of-00004.gguf >clean || fail "$(cat clean)"
# Other types.
for type in Q8_0 Q5_0; do
  "$ingot" quantize old.gguf $type.gguf $type -q
  "$ingot" split $type.gguf $type --max-tensors 12 -q
done
"$ingot" check Q8_0-00001-of-00004.gguf >clean || fail "$(cat clean)"
cp Q5_0-00002-of-00004.gguf Q8_0-00002-of-00004.gguf
expect 1 "$ingot" check Q8_0-00001-of-00004.gguf >findings
grep -q 'shards_mixed' findings || fail "$(cat findings)"
# Other totals: opening says so, merging refuses it.
"$ingot" sample more.gguf --layers 5 --embedding 64 --feed-forward 128 --vocab 300 --type F16 -q
mkdir more && "$ingot" split more.gguf more/m --shards 4 -q
mix more old 4
! "$ingot" merge mixed/m-00001-of-00004.gguf merged.gguf 2>message || fail "merged a mixed set"
[[ -s message && ! -e merged.gguf ]] || fail "$(cat message)"
# Only the totals differ.
mix old old 2
python '
import sys
path, key = sys.argv[1], b"split.tensors.count"
data = bytearray(open(path, "rb").read())
data[data.index(key) + len(key) + 4] ^= 1  # after the type, an int32
open(path, "wb").write(data)
' mixed/m-00002-of-00004.gguf
expect 1 "$ingot" check mixed/m-00001-of-00004.gguf >findings
grep -q 'split.tensors.count.*so they are of different sets' findings || fail "$(cat findings)"
