# SPDX-License-Identifier: MIT
# Several results from one reading: equal to those of single runs, for every kind of source and
# option, and within a limit of memory.
"$ingot" sample m.gguf --layers 1 --embedding 256 --feed-forward 512 --vocab 600 -q

"$ingot" quantize m.gguf --to Q8_0 --to q4_k_m --to Q4_K_S --to-dir out/new -q
[[ $(ls -A out/new) == $'m-Q4_K_M.gguf\nm-Q4_K_S.gguf\nm-Q8_0.gguf' ]] || fail "$(ls -A out/new)"
for type in Q8_0 Q4_K_M Q4_K_S; do
  "$ingot" quantize m.gguf alone.gguf $type --force -q
  expect_same alone.gguf out/new/m-$type.gguf
done
expect_error 2 'give one of them' "$ingot" quantize m.gguf --to Q8_0 --to-dir out -o other
expect_error 2 'the file exists; --force replaces it' "$ingot" quantize m.gguf --to Q8_0 --to-dir out/new
# --to is TYPE by another name.
"$ingot" quantize m.gguf Q5_0 --to Q5_1 --to Q5_0 --to-dir out -q
[[ -e out/m-Q5_0.gguf && -e out/m-Q5_1.gguf ]] || fail "$(ls out)"
"$ingot" quantize m.gguf named.gguf --to Q5_0 -q
expect_same out/m-Q5_0.gguf named.gguf
"$ingot" quantize m.gguf --to Q5_1 -q
expect_same out/m-Q5_1.gguf m-Q5_1.gguf

# A limit that is too small is refused with the least that is not, which is kept to.
expect_error 2 'max-memory: 977 KiB do not suffice; the least that does is' \
  "$ingot" quantize m.gguf --to F32 --to Q8_0 --to-dir small --max-memory 1M
message=$("$ingot" quantize m.gguf --to F32 --to Q8_0 --to-dir small --max-memory 1M 2>&1) || true
least=$(sed 's/.*least that does is \([0-9]*\) MiB.*/\1/' <<<"$message")
[[ -z $(ls -A small) ]] || fail "a refused run left $(ls -A small)"
python '
import resource, subprocess, sys
subprocess.run(sys.argv[2:], check=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
assert peak <= int(sys.argv[1]), peak' "$least" \
  "$ingot" quantize m.gguf --to F32 --to Q8_0 --to-dir small --max-memory "${least}MiB" -j 4 -q
expect_same out/new/m-Q8_0.gguf small/m-Q8_0.gguf

# Folders, importance matrices and more effort go through the same work.
python3 "$tests/make_model_folder.py" folder >/dev/null
"$ingot" sample tiny.gguf --layers 1 --embedding 64 --feed-forward 96 -q
for i in {1..60}; do echo "The quick brown fox jumps over the lazy dog number $i."; done >text.txt
"$ingot" imatrix collect tiny.gguf --text text.txt -o im.gguf --moments 32 -q
together() { # SOURCE OPTION...: each result equals that of a run of its own
  local source=$1
  rm -rf both
  "$ingot" quantize "$source" --to Q8_0 --to Q4_0 --to IQ4_NL --to-dir both --resume -q "${@:2}" 2>remarks
  for type in Q8_0 Q4_0 IQ4_NL; do
    "$ingot" quantize "$source" alone.gguf $type --force -q "${@:2}" 2>remarks
    expect_same alone.gguf "both/${source%.gguf}-$type.gguf"
  done
}
together folder
together folder --effort best --max-memory 1G
together tiny.gguf --imatrix im.gguf
together tiny.gguf --imatrix im.gguf --effort best
