# Generated C goes to a file; nothing is printed.
# run: emit -o kernel.c {file}
--- program
tensor A(4): f64
tensor B(4): f64
A(i) = B(i)
