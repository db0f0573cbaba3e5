# The same as JSON, with a result that is computed on several ranks.
# run: plan --stats=json --in B=const:1 {file}
# mask: "plan_seconds": [-+.e0-9]+
--- program
machine M = grid(2)
tensor B(8, 8): f64, csr
tensor A(8): f64, {compressed}
place B(i, j) -> M(j)
place A(i) -> M(i)
A(i) = B(i, j)
--- stdout
{"program": "sparse_elsewhere_json.distal", "ranks": 2, "statements": [
  {"target": "A", "flop": null,
   "tensors": {
    "B": {"pattern": "gather", "at": "io", "steps": 1,
      "bytes_received": [128, 128], "messages_received": [1, 1],
      "home_bytes": [456, 456], "buffer_bytes": [1224, 1224],
      "stored": [32, 32], "imbalance": 1, "structure_bytes_received": [48, 48]},
    "A": {"pattern": "local", "at": "io", "steps": 1,
      "bytes_received": [0, 0], "messages_received": [0, 0],
      "home_bytes": [0, 0], "buffer_bytes": [0, 0],
      "stored": null, "imbalance": null, "stored_estimate": 8, "structure_bytes_received": [0, 0]}},
   "peak_bytes": [1680, 1680], ...}]}
