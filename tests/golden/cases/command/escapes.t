# run: run {file} --in "B=[2JB.npy" --out "A=ab.txt" --in "=ones"
# status: 2
# What names do to a terminal they do not do in messages.
--- program
tensor A(3): f64
tensor B(3): f64
A(i) = B(i)
--- stderr
distal: error: --in \a=ones: the program has no tensor '\a' (tensors: A B)
distal: error: cannot write A to 'a\rb.txt': the ending must be one of .npy, .mtx, .tns, .csv, .h5, .h5:/NAME
