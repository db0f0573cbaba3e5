# Commands that statements with indices such as i + 1 do not have.
# run: plan {file}
# status: 2
--- program
param n = 8
tensor A(n, n): f64
tensor u(n): f64
tensor v(n): f64
v(i) = u(i + 1) * u(i) * u(i)
schedule v { precompute(u(i) * u(i), {i}, {i}, W) }
--- stderr
index_commands.distal:6:14: error: cannot precompute: statements with indices such as 'i + 1' have no workspaces
   6 | schedule v { precompute(u(i) * u(i), {i}, {i}, W) }
     |              ^~~~~~~~~~
