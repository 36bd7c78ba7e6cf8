# SPDX-License-Identifier: MIT
"$ingot" types
"$ingot" types --json >types.json
python '
import json
types = {row["type"]: row for row in json.load(open("types.json"))}
assert len(types) == 35
assert types["Q4_K"] == {"id": 12, "type": "Q4_K", "block_elements": 256, "block_bytes": 144,
                         "bits_per_weight": 4.5, "can_encode": True,
                         "importance_weights": "optional"}
assert types["IQ2_XXS"]["importance_weights"] == "required"
'
expect_error 2 'types' "$ingot" types something
