# A program on standard input.
# run: plan - --stats=json
# mask: (?<="plan_seconds": )[-0-9.e]+
--- program
machine M = grid(2)
tensor A(4): f64
tensor B(4): f64
place A(x) -> M(x)
place B(x) -> M(x)
A(i) = B(i)
--- stdout
{"program": "<stdin>", "ranks": 2, "statements": [
  {"target": "A", "flop": 0,
   "tensors": {
    "A": {"pattern": "local", "at": "io", "steps": 1,
      "bytes_received": [0, 0], "messages_received": [0, 0],
      "home_bytes": [16, 16], "buffer_bytes": [0, 0]},
    "B": {"pattern": "local", "at": "io", "steps": 1,
      "bytes_received": [0, 0], "messages_received": [0, 0],
      "home_bytes": [16, 16], "buffer_bytes": [0, 0]}},
   "peak_bytes": [32, 32], "plan_seconds": ...}]}
