# run: plan --machine m.machine {file}
# status: 2
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
machine "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
level a 2 latency 1us bandwidth 1GB/s copy -1GB/s
level b 2 latency -1us
level c 2 latency 0s bandwidth 1GB/s
level c 2 latency 0s bandwidth 1GB/s
level
level x
level x 0
level i 2 latency
level d 2 latency 0s bandwidth 1GB/s
level e 2 latency 0s bandwidth 1GB/s
level f 2 latency 0s bandwidth 1GB/s
level g 2 latency 0s bandwidth 1GB/s
level h 2 latency 0s bandwidth 1GB/s
level k 2 latency 0s bandwidth 1GB/s
level j 2 latency 0s bandwidth 1GB/s
single 2x
rate gemm 1:1GFLOP/s 2:1GFLOP/s 3:1GFLOP/s 4:1GFLOP/s 5:1GFLOP/s 6:1GFLOP/s 7:1GFLOP/s 8:1GFLOP/s 9:1GFLOP/s 10:1GFLOP/s 11:1GFLOP/s 12:1GFLOP/s 13:1GFLOP/s 14:1GFLOP/s 15:1GFLOP/s 16:1GFLOP/s 17:1GFLOP/s 18:1GFLOP/s 19:1GFLOP/s 20:1GFLOP/s 21:1GFLOP/s
factor reduce 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1 10:1 11:1 12:1 13:1 14:1 15:1 16:1 17:1 18:1 19:1 20:1 21:1 22:1 23:1 24:1 25:1 26:1 27:1 28:1 29:1 30:1 31:1 32:1 33:1 34:1 35:1 36:1 37:1 38:1 39:1 40:1 41:1 42:1 43:1 44:1 45:1 46:1 47:1 48:1 49:1 50:1 51:1 52:1 53:1 54:1 55:1 56:1 57:1 58:1 59:1 60:1 61:1 62:1 63:1 64:1 65:1 66:1 67:1 68:1 69:1 70:1 71:1 72:1 73:1 74:1 75:1 76:1 77:1 78:1 79:1 80:1 81:1 82:1 83:1 84:1 85:1 86:1 87:1 88:1 89:1 90:1 91:1 92:1 93:1 94:1 95:1 96:1 97:1 98:1 99:1 100:1 101:1 102:1 103:1 104:1 105:1 106:1 107:1 108:1 109:1 110:1 111:1 112:1 113:1 114:1 115:1 116:1 117:1 118:1 119:1 120:1 121:1 122:1 123:1 124:1 125:1 126:1 127:1 128:1 129:1 130:1 131:1 132:1 133:1 134:1 135:1 136:1 137:1 138:1 139:1
ranks 2.5
ranks 2.5
factor
--- stderr
m.machine:1:9: error: a name has up to 95 bytes
   1 | machine "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
m.machine:2:44: error: '-1GB/s' is not a positive number of B/s, kB/s, MB/s, GB/s, TB/s, such as 12GB/s
   2 | level a 2 latency 1us bandwidth 1GB/s copy -1GB/s
     |                                            ^~~~~~
m.machine:3:19: error: '-1us' is not a nonnegative number of ns, us, ms, s, such as 1.5us
   3 | level b 2 latency -1us
     |                   ^~~~
m.machine:5:7: error: level 'c' is given twice
   5 | level c 2 latency 0s bandwidth 1GB/s
     |       ^
m.machine:6:1: error: expected the name of the level, as in: level node 16
   6 | level
     | ^~~~~
m.machine:7:7: error: expected the number of its units, as in: level node 16
   7 | level x
     |       ^
m.machine:8:9: error: '0' is not a positive number, such as 0.9
   8 | level x 0
     |         ^
m.machine:9:11: error: 'latency' has no value: write one such as 1.5us
   9 | level i 2 latency
     |           ^~~~~~~
m.machine:15:1: error: more than 6 levels
  15 | level k 2 latency 0s bandwidth 1GB/s
     | ^~~~~
m.machine:16:1: error: more than 6 levels
  16 | level j 2 latency 0s bandwidth 1GB/s
     | ^~~~~
m.machine:17:8: error: '2x' has no unit: write a number alone
  17 | single 2x
     |        ^~
m.machine:18:242: error: more than 20 values
  18 | LOP/s 9:1GFLOP/s 10:1GFLOP/s 11:1GFLOP/s 12:1GFLOP/s 13:1GFLOP/s 14:1GFLOP/s 15:1GFLOP/s 16:1GFLOP/s 17:1GFLOP/s 18:1GFLOP/s 19:1GFLOP/s 20:1GFLOP/s 21:1GFLOP/s
     |                                                                                                                                                      ^~~~~~~~~~~
m.machine:19:663: error: more than 128 words in a line
  19 | 13:1 114:1 115:1 116:1 117:1 118:1 119:1 120:1 121:1 122:1 123:1 124:1 125:1 126:1 127:1 128:1 129:1 130:1 131:1 132:1 133:1 134:1 135:1 136:1 137:1 138:1 139:1
     |                                                                                    ^~~~~
m.machine:20:7: error: '2.5' is not an integer
  20 | ranks 2.5
     |       ^~~
m.machine:21:1: error: 'ranks' is given twice
  21 | ranks 2.5
     | ^~~~~
m.machine:22:1: error: expected one of broadcast, all-gather, reduce, reduce-scatter, all-reduce
  22 | factor
     | ^~~~~~
