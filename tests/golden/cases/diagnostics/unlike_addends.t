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
unlike_addends.distal: note: to sum the whole term, write: v = sum({i}, (x(i) - mu) * (x(i) - mu))
unlike_addends.distal: note: to sum each addend before adding, write: v = (sum({i}, x(i)) - mu) * (sum({i}, x(i)) - mu)
unlike_addends.distal:11:16: error: the addends of this sum, which is part of a product, a quotient or a call, are summed over different variables: 'mu' over none, 'y(i)' over i
  11 | v = x(i) + 2 * (mu + y(i))
     |                ^~~~~~~~~~~
unlike_addends.distal: note: to sum the whole term, write: v = x(i) + sum({i}, 2 * (mu + y(i)))
unlike_addends.distal: note: to sum each addend before adding, write: v = x(i) + 2 * (mu + sum({i}, y(i)))
unlike_addends.distal:12:7: error: the addends of this sum, which is part of a product, a quotient or a call, are summed over different variables: 'x(i)' over i, '1' over none
  12 | v += -(x(i) - 1) / (x(i) - y(j)) - exp(-(B(i, j) + x(i) + x(i)) * y(i))
     |       ^~~~~~~~~~
unlike_addends.distal: note: to sum the whole term, write: v += sum({i, j}, -(x(i) - 1) / (x(i) - y(j))) - sum({i, j}, exp(-(B(i, j) + x(i) + x(i)) * y(i)))
unlike_addends.distal: note: to sum each addend before adding, write: v += -(sum({i}, x(i)) - 1) / (sum({i}, x(i)) - sum({j}, y(j))) - exp(-(sum({j}, B(i, j)) + x(i) + x(i)) * y(i))
unlike_addends.distal:13:12: error: the addends of this sum, which is part of a product, a quotient or a call, are summed over different variables: 'z(i)' over none, 'z(j) * (x(j) - t)' over j
  13 | c(i) = pow(z(i) - z(j) * (x(j) - t), 2) * abs(z(i) + y(k))
     |            ^~~~~~~~~~~~~~~~~~~~~~~~
unlike_addends.distal: note: to sum the whole term, write: c(i) = sum({j, k}, pow(z(i) - z(j) * (x(j) - t), 2) * abs(z(i) + y(k)))
unlike_addends.distal: note: to sum each addend before adding, write: c(i) = pow(z(i) - sum({j}, z(j) * (sum({j}, x(j)) - t)), 2) * abs(z(i) + sum({k}, y(k)))
unlike_addends.distal:14:22: error: the addends of this sum, which is part of a product, a quotient or a call, are summed over different variables: 'B(i, j)' over j, 'B(i, k)' over k
  14 | x(i) = (y(i) + mu) * (B(i, j) - B(i, k))
     |                      ^~~~~~~~~~~~~~~~~~~
unlike_addends.distal: note: to sum the whole term, write: x(i) = sum({j, k}, (y(i) + mu) * (B(i, j) - B(i, k)))
unlike_addends.distal: note: to sum each addend before adding, write: x(i) = (y(i) + mu) * (sum({j}, B(i, j)) - sum({k}, B(i, k)))
