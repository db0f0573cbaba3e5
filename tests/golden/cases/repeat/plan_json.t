# run: plan --stats=json {file}
# mask: "plan_seconds": [-+.e0-9]+
--- program
param n = 8
machine M = grid(2)
tensor A(n, n): f64
tensor x(n): f64
tensor y(n): f64
tensor s: f64
place A(i, j) -> M(i)
place x(i) -> M(i)
place y(i) -> M(i)
x(i) = 1
repeat 5 {
  y(i) = A(i, j) * x(j)
  repeat n { x(i) = A(i, j) * y(j); s = y(i) } until s < 0.5
}
--- stdout
{"program": "plan_json.distal", "ranks": 2, "repetitions": [
  {"first": 1, "last": 3, "count": 5, "until": null},
  {"first": 2, "last": 3, "count": 8, "until": "s < 0.5"}],
 "statements": [
  {"target": "x", "flop": 0,
   "tensors": {
    "A": {"pattern": "none", "at": "", "steps": 0,
      "bytes_received": [0, 0], "messages_received": [0, 0],
      "home_bytes": [256, 256], "buffer_bytes": [0, 0]},
    "x": {"pattern": "local", "at": "io", "steps": 1,
      "bytes_received": [0, 0], "messages_received": [0, 0],
      "home_bytes": [32, 32], "buffer_bytes": [0, 0]},
    "y": {"pattern": "none", "at": "", "steps": 0,
      "bytes_received": [0, 0], "messages_received": [0, 0],
      "home_bytes": [32, 32], "buffer_bytes": [0, 0]},
    "s": {"pattern": "none", "at": "", "steps": 0,
      "bytes_received": [0, 0], "messages_received": [0, 0],
      "home_bytes": [8, 8], "buffer_bytes": [0, 0]}},
   "peak_bytes": [328, 328], ...},
  {"target": "y", "executions": 5,
   "total": {"flop": 640, "bytes": 320, "messages": 10}, "flop": 128,
   "tensors": {
    "A": {"pattern": "local", "at": "io", "steps": 1,
      "bytes_received": [0, 0], "messages_received": [0, 0],
      "home_bytes": [256, 256], "buffer_bytes": [0, 0]},
    "x": {"pattern": "all-gather", "at": "io", "steps": 1,
      "bytes_received": [32, 32], "messages_received": [1, 1],
      "home_bytes": [32, 32], "buffer_bytes": [64, 64]},
    "y": {"pattern": "local", "at": "io", "steps": 1,
      "bytes_received": [0, 0], "messages_received": [0, 0],
      "home_bytes": [32, 32], "buffer_bytes": [0, 0]},
    "s": {"pattern": "none", "at": "", "steps": 0,
      "bytes_received": [0, 0], "messages_received": [0, 0],
      "home_bytes": [8, 8], "buffer_bytes": [0, 0]}},
   "peak_bytes": [464, 464], ...},
  {"target": "x", "executions": 40,
   "total": {"flop": 5120, "bytes": 2560, "messages": 80}, "flop": 128,
   "tensors": {
    "A": {"pattern": "local", "at": "io", "steps": 1,
      "bytes_received": [0, 0], "messages_received": [0, 0],
      "home_bytes": [256, 256], "buffer_bytes": [0, 0]},
    "x": {"pattern": "local", "at": "io", "steps": 1,
      "bytes_received": [0, 0], "messages_received": [0, 0],
      "home_bytes": [32, 32], "buffer_bytes": [0, 0]},
    "y": {"pattern": "all-gather", "at": "io", "steps": 1,
      "bytes_received": [32, 32], "messages_received": [1, 1],
      "home_bytes": [32, 32], "buffer_bytes": [64, 64]},
    "s": {"pattern": "none", "at": "", "steps": 0,
      "bytes_received": [0, 0], "messages_received": [0, 0],
      "home_bytes": [8, 8], "buffer_bytes": [0, 0]}},
   "peak_bytes": [464, 464], ...},
  {"target": "s", "executions": 40,
   "total": {"flop": 320, "bytes": 640, "messages": 80}, "flop": 8,
   "tensors": {
    "A": {"pattern": "none", "at": "", "steps": 0,
      "bytes_received": [0, 0], "messages_received": [0, 0],
      "home_bytes": [256, 256], "buffer_bytes": [0, 0]},
    "x": {"pattern": "none", "at": "", "steps": 0,
      "bytes_received": [0, 0], "messages_received": [0, 0],
      "home_bytes": [32, 32], "buffer_bytes": [0, 0]},
    "y": {"pattern": "local", "at": "io", "steps": 1,
      "bytes_received": [0, 0], "messages_received": [0, 0],
      "home_bytes": [32, 32], "buffer_bytes": [0, 0]},
    "s": {"pattern": "all-reduce", "at": "io", "steps": 1,
      "bytes_received": [8, 8], "messages_received": [1, 1],
      "home_bytes": [8, 8], "buffer_bytes": [8, 8]}},
   "peak_bytes": [464, 464], ...}]}
