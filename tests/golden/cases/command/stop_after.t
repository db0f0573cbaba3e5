# A pass that there is not.
# run: explain --stop-after lower {file}
# status: 2
--- program
machine M = grid(2)
tensor A(4): f64
tensor B(4): f64
place A(x) -> M(x)
place B(x) -> M(x)
A(i) = B(i)
--- stderr
distal: error: invalid value 'lower' for --stop-after: expected program, cin, schedule, spmd, loops, c or plan; or loops:PASS for the loops after one pass: lowered, overlap, pipeline, transposes, tiles, invariants, threads, vectors, launches, sums, blocks, loads, registers, strips, prefetch, portions, streams, addresses or unused
'distal help' lists commands and options
