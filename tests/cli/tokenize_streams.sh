# SPDX-License-Identifier: MIT
# Large texts: the same ids for any number of threads, in little memory, with progress, and an
# orderly end.
"$ingot" sample spm.gguf -q
"$ingot" sample bpe.gguf --arch qwen2 -q
export words=400000
[[ ${INGOT_INSTRUMENTED:-0} == 0 ]] || words=40000  # sanitizers are slow
python '
import os, random
words = ["the", "end", "Hello", "world,", "x=1;", "\n", "12345", "caf\u00e9", "\u4e2d\u6587", "  "]
draw = random.Random(1)
with open("text", "w", encoding="utf-8") as file:
    for _ in range(int(os.environ["words"])): file.write(draw.choice(words) + " ")
'
for model in spm.gguf bpe.gguf; do
  "$ingot" tokenize "$model" -f text -j 1 >one
  for threads in 2 3 8; do
    "$ingot" tokenize "$model" - -j "$threads" <text >many
    cmp -s one many || fail "$model: other ids with $threads threads"
  done
  "$ingot" detokenize "$model" -f one --no-special >back
  # The sample of SentencePiece puts a space before a text.
  tail -c "$(wc -c <text)" back | cmp -s - text || fail "$model: another text"
  [[ $("$ingot" tokenize "$model" -f text --count) == $(wc -w <one) ]] || fail "$model: count"
done

"$ingot" tokenize bpe.gguf -f text --count --progress always 2>bar >/dev/null
grep -q '%.* of ' bar || fail "no bar: $(<bar)"

# A reader that has seen enough is no failure.
"$ingot" tokenize bpe.gguf -f text | head -c 20 >/dev/null
[[ ${PIPESTATUS[0]} == 0 ]] || fail "a closed pipe is a failure"

# Memory does not grow with the text.
if [[ ${INGOT_INSTRUMENTED:-0} == 0 ]]; then
  for _ in $(seq 8); do cat text; done >large
  python '
import resource, subprocess, sys
subprocess.run([sys.argv[1], "tokenize", "bpe.gguf", "-f", "large", "-j", "2"],
               check=True, stdout=subprocess.DEVNULL)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
assert peak < 64, f"{peak} MiB"
' "$ingot"
fi
