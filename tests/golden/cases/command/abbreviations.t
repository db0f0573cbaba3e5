# Options by the beginning of their names, letters together, files between and behind them, values with `=`.
# run: plan --stat=json --mem=1G -qpn=3 -- {file}
# mask: "plan_seconds": [^}]*
--- program
param n = 8
tensor A(n): f64
A(i) = 1
--- stdout
{"program": "abbreviations.distal", "ranks": 1, "statements": [
  {"target": "A", "flop": 0,
   "tensors": {
    "A": {"pattern": "local", "at": "", "steps": 1,
      "bytes_received": [0], "messages_received": [0],
      "home_bytes": [24], "buffer_bytes": [0]}},
   "peak_bytes": [24], ...}]}
