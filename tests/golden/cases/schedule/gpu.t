# run: schedule {file}
# status: 2
--- program
machine M = grid(2)
tensor A(50, 50): f64
tensor B(50, 50): f64
place A(x, y) -> M(x)
place B(x, y) -> M(x) in gpu
A(i, j) = B(i, j)
--- stderr
gpu.distal:5:7: error: no schedule is looked for where a tensor is in GPU memory, as 'B' is: write one for the statements that use it
   5 | place B(x, y) -> M(x) in gpu
     |       ^~~~~~~~~~~~~~~~~~~~~~
