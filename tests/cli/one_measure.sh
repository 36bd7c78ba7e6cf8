# SPDX-License-Identifier: MIT
# quantize, diff and report measure the same error, for each tensor and for all together.
"$ingot" sample a.gguf --type BF16 -q
"$ingot" quantize a.gguf q.gguf Q4_K_M --json >quantize.json
expect 1 "$ingot" diff a.gguf q.gguf --data --json >diff.json
"$ingot" report q.gguf --reference a.gguf --json >report.json
python 'import json, math
def close(a, b):
    assert math.isclose(a, b, rel_tol=1e-12), (a, b)
quantized = json.load(open("quantize.json"))
compared = {data["name"]: data for data in json.load(open("diff.json"))["data"]}
shown = {tensor["name"]: tensor["error"] for tensor in json.load(open("report.json"))["tensors"]}
changed = [tensor for tensor in quantized["tensors"] if tensor["error"]]
assert len(changed) == 16 and len(shown) == 21
for tensor in changed:
    for name in ("sqnr_db", "rmse"):
        close(tensor["error"][name], compared[tensor["name"]][name])
        close(tensor["error"][name], shown[tensor["name"]][name])
    assert tensor["error"]["max"] == compared[tensor["name"]]["max"] == shown[tensor["name"]]["max"]
# Tensors without an error do not count in the total.
total = [shown[tensor["name"]] for tensor in changed]
signal, error = (sum(t[name] for t in total) for name in ("squared_signal", "squared_error"))
assert signal < 0.9 * sum(t["squared_signal"] for t in shown.values())
close(quantized["error"]["sqnr_db"], 10 * math.log10(signal / error))
print("%.2f" % quantized["error"]["sqnr_db"])' >sqnr
grep -q "SQNR $(cat sqnr) dB" <("$ingot" quantize a.gguf q.gguf Q4_K_M --force) || fail "quantize"
grep -q "SQNR $(cat sqnr) dB" <("$ingot" diff a.gguf q.gguf --data || true) || fail "diff"
for threads in 1 3; do
  "$ingot" quantize a.gguf q.gguf Q4_K_M --force --json -j $threads >again.json
  expect_same quantize.json again.json
done
