# run: plan --stats=json -p n=97 -p gx=2 -p gy=3 {file}
# mask: "plan_seconds": [-+.e0-9]+
--- program
# SUMMA: matrix multiplication on a gx x gy grid, each process in turn broadcasting a chunk of its tile along
# its row and column (van de Geijn and Watts, 1995; DISTAL, figure 9).
# A is m x n, B is m x q, C is q x n; `-p n=N` alone makes all of them square.
param n = 1024, m = n, q = n, gx = 2, gy = 2, chunk = 256

machine M = grid(gx, gy)

tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64

place A(x, y) -> M(x, y)
place B(x, y) -> M(x, y)
place C(x, y) -> M(x, y)

A(i, j) = B(i, k) * C(k, j)

schedule A {
  distribute({i, j}, {io, jo}, {ii, ji}, M)
  split(k, ko, ki, chunk)
  reorder({ko, ii, ji, ki})
  communicate(A, jo)
  communicate({B, C}, ko)
  substitute({ii, ji, ki}, gemm)
}
--- stdout
{"program": "json.distal", "ranks": 6, "statements": [
  {"target": "A", "flop": 1825346,
   "tensors": {
    "A": {"pattern": "local", "at": "jo", "steps": 1,
      "bytes_received": [0, 0, 0, 0, 0, 0], "messages_received": [0, 0, 0, 0, 0, 0],
      "home_bytes": [12936, 12936, 12152, 12672, 12672, 11904], "buffer_bytes": [0, 0, 0, 0, 0, 0]},
    "B": {"pattern": "broadcast", "at": "ko", "steps": 1,
      "bytes_received": [25088, 25088, 25872, 24576, 24576, 25344], "messages_received": [2, 2, 2, 2, 2, 2],
      "home_bytes": [12936, 12936, 12152, 12672, 12672, 11904], "buffer_bytes": [38024, 38024, 38024, 37248, 37248, 37248]},
    "C": {"pattern": "all-gather", "at": "ko", "steps": 1,
      "bytes_received": [12672, 12672, 11904, 12936, 12936, 12152], "messages_received": [1, 1, 1, 1, 1, 1],
      "home_bytes": [12936, 12936, 12152, 12672, 12672, 11904], "buffer_bytes": [25608, 25608, 24056, 25608, 25608, 24056]}},
   "peak_bytes": [102440, 102440, 98536, 100872, 100872, 97016], ...}]}
