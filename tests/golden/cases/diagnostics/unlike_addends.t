# A sum inside of a term has to be summed over the same variables in all of its addends; both readings are written out.
# run: check -p n=5 {file}
# status: 2
--- program
param n = 8
tensor x(n): f64
tensor y(n): i32
tensor z(n): c64
tensor B(n, n): f64
tensor t: f64
tensor mu: f64
tensor v: f64
tensor c(n): c128
v = (x(i) - mu) * (x(i) - mu)
v = x(i) + 2 * (mu + y(i))
v += -(x(i) - 1) / (x(i) - y(j)) - exp(-(B(i, j) + x(i) + x(i)) * y(i))
c(i) = pow(z(i) - z(j) * (x(j) - t), 2) * abs(z(i) + y(k))
x(i) = (y(i) + mu) * (B(i, j) - B(i, k))
v = (x(i) + x(i)) * (B(i, j) - x(i) * B(i, j)) - (x(i) - mu)
--- stderr
unlike_addends.distal:10:5: error: the addends of this sum, which is part of a product, a quotient or a call, are summed over different variables: 'x(i)' over i, 'mu' over none
  10 | v = (x(i) - mu) * (x(i) - mu)
     |     ^~~~~~~~~~~
unlike_addends.distal: note: to sum the whole term, write: tensor t1(n): f64; t1(i) = x(i) - mu; v = t1(i) * t1(i)
unlike_addends.distal: note: to sum each addend before adding, write: tensor t1: f64; t1 = x(i) - mu; v = t1 * t1
unlike_addends.distal:11:16: error: the addends of this sum, which is part of a product, a quotient or a call, are summed over different variables: 'mu' over none, 'y(i)' over i
  11 | v = x(i) + 2 * (mu + y(i))
     |                ^~~~~~~~~~~
unlike_addends.distal: note: to sum the whole term, write: tensor t1(n): f64; t1(i) = mu + y(i); v = x(i) + 2 * t1(i)
unlike_addends.distal: note: to sum each addend before adding, write: tensor t1: f64; t1 = mu + y(i); v = x(i) + 2 * t1
unlike_addends.distal:12:7: error: the addends of this sum, which is part of a product, a quotient or a call, are summed over different variables: 'x(i)' over i, '1' over none
  12 | v += -(x(i) - 1) / (x(i) - y(j)) - exp(-(B(i, j) + x(i) + x(i)) * y(i))
     |       ^~~~~~~~~~
unlike_addends.distal: note: to sum the whole term, write: tensor t1(n): f64; tensor t2(n, n): f64; tensor t3(n, n): f64; t1(i) = x(i) - 1; t2(i, j) = x(i) - y(j); t3(i, j) = B(i, j) + x(i) + x(i); v += -t1(i) / t2(i, j) - exp(-t3(i, j) * y(i))
unlike_addends.distal: note: to sum each addend before adding, write: tensor t1: f64; tensor t2: f64; tensor t3(n): f64; t1 = x(i) - 1; t2 = x(i) - y(j); t3(i) = B(i, j) + x(i) + x(i); v += -t1 / t2 - exp(-t3(i) * y(i))
unlike_addends.distal:13:12: error: the addends of this sum, which is part of a product, a quotient or a call, are summed over different variables: 'z(i)' over none, 'z(j) * (x(j) - t)' over j
  13 | c(i) = pow(z(i) - z(j) * (x(j) - t), 2) * abs(z(i) + y(k))
     |            ^~~~~~~~~~~~~~~~~~~~~~~~
unlike_addends.distal: note: to sum the whole term, write: tensor t1(n, n): c128; tensor t2(n, n): c128; t1(i, j) = z(i) - z(j) * (x(j) - t); t2(i, k) = z(i) + y(k); c(i) = pow(t1(i, j), 2) * abs(t2(i, k))
unlike_addends.distal: note: to sum each addend before adding, write: tensor t1: f64; tensor t2(n): c128; tensor t3(n): c128; t1 = x(j) - t; t2(i) = z(i) - z(j) * t1; t3(i) = z(i) + y(k); c(i) = pow(t2(i), 2) * abs(t3(i))
unlike_addends.distal:14:22: error: the addends of this sum, which is part of a product, a quotient or a call, are summed over different variables: 'B(i, j)' over j, 'B(i, k)' over k
  14 | x(i) = (y(i) + mu) * (B(i, j) - B(i, k))
     |                      ^~~~~~~~~~~~~~~~~~~
unlike_addends.distal: note: to sum the whole term, write: tensor t1(n, n, n): f64; t1(i, j, k) = B(i, j) - B(i, k); x(i) = (y(i) + mu) * t1(i, j, k)
unlike_addends.distal: note: to sum each addend before adding, write: tensor t1(n): f64; t1(i) = B(i, j) - B(i, k); x(i) = (y(i) + mu) * t1(i)
