# Where the machine has as many processors as there are ranks, more ranks are tried. The limit is in bytes.
# run: plan {file} -n 3 --memory-limit=200000 --stats=json
# status: 1
# mask: "plan_seconds": [-+.e0-9]+
--- program
machine M = grid(ranks)
tensor A(50000): f64
tensor B(50000): f64
place A(x) -> M(x)
place B(x) -> M(x)
A(i) = B(i)
--- stdout
{"program": "memory_limit_ranks.distal", "ranks": 3, "statements": [
  {"target": "A", "flop": 0,
   "tensors": {
    "A": {"pattern": "local", "at": "io", "steps": 1,
      "bytes_received": [0, 0, 0], "messages_received": [0, 0, 0],
      "home_bytes": [133336, 133336, 133328], "buffer_bytes": [0, 0, 0]},
    "B": {"pattern": "local", "at": "io", "steps": 1,
      "bytes_received": [0, 0, 0], "messages_received": [0, 0, 0],
      "home_bytes": [133336, 133336, 133328], "buffer_bytes": [0, 0, 0]}},
   "peak_bytes": [266672, 266672, 266656], ...}]}
--- stderr
distal: error: rank 0 needs 266672 B of memory, more than the limit of 200000 B
distal: note: rank 0 while it computes A: A 133336 B at home; B 133336 B at home
distal: note: with -n 6, no rank would need more than 133344 B
