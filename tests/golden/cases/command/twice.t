# An input that is given twice, and an output.
# run: run {file} --in B=ones --in B=zeros --out A=a.npy --out A=b.npy
# status: 2
--- program
machine M = grid(2)
tensor A(4): f64
tensor B(4): f64
place A(x) -> M(x)
place B(x) -> M(x)
A(i) = B(i)
--- stderr
distal: error: --in B=zeros: 'B' is given twice
distal: error: --out A=b.npy: 'A' is given twice
