# run: plan --stats=json --machine m.machine {file}
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
--- file m.machine
machine "a small one"
level node 4 memory 64GiB copy 100GB/s latency 2us bandwidth 1KiB:1GB/s 1MiB:10GB/s link 12GB/s
level core 2 copy 20GB/s latency 0.5us bandwidth 5GB/s
rate gemm 16:1GFLOP/s 1024:16GFLOP/s
rate loops 2GFLOP/s
--- stdout
{"program": "machine_json.distal", "ranks": 4, "statements": [
  {"target": "A", "flop": 2147483648,
   "tensors": {
    "A": {"pattern": "local", "at": "jo", "steps": 1,
      "bytes_received": [0, 0, 0, 0], "messages_received": [0, 0, 0, 0],
      "home_bytes": [2097152, 2097152, 2097152, 2097152], "buffer_bytes": [0, 0, 0, 0]},
    "B": {"pattern": "broadcast", "at": "ko", "steps": 4,
      "bytes_received": [2097152, 2097152, 2097152, 2097152], "messages_received": [2, 2, 2, 2],
      "home_bytes": [2097152, 2097152, 2097152, 2097152], "buffer_bytes": [1048576, 1048576, 1048576, 1048576]},
    "C": {"pattern": "broadcast", "at": "ko", "steps": 4,
      "bytes_received": [2097152, 2097152, 2097152, 2097152], "messages_received": [2, 2, 2, 2],
      "home_bytes": [2097152, 2097152, 2097152, 2097152], "buffer_bytes": [1048576, 1048576, 1048576, 1048576]}},
   "peak_bytes": [8388608, 8388608, 8388608, 8388608], ...,
   "predicted": {"computing": 0.0679232, "memory": 0.000524288, "network": 0.00155191, "disk": 0, "overlapped": 0, "total": 0.0699994, "critical": "computing"}, "moved_bytes": 4194304, "disk_bytes": 0, "moved_at_least": 3695608}]}
