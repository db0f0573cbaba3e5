# run: check {file}
# status: 2
--- program
param n = 100
tensor a(n): f64
tensor b(2 * n): f64
a(i) = b(i + 0) + b(i + 1) + b(i + 2) + b(i + 3) + b(i + 4) + b(i + 5) + b(i + 6) + b(i + 7) + b(i + 8) + b(i + 9) + b(i + 10) + b(i + 11) + b(i + 12) + b(i + 13) + b(i + 14) + b(i + 15) + b(i + 16) + b(i + 17) + b(i + 18) + b(i + 19) + b(i + 20) + b(i + 21) + b(i + 22) + b(i + 23) + b(i + 24) + b(i + 25) + b(i + 26) + b(i + 27) + b(i + 28) + b(i + 29) + b(i + 30) + b(i + 31) + b(i + 32) + b(i + 33) + b(i + 34) + b(i + 35) + b(i + 36) + b(i + 37) + b(i + 38) + b(i + 39) + b(i + 40) + b(i + 41) + b(i + 42) + b(i + 43) + b(i + 44) + b(i + 45) + b(i + 46) + b(i + 47) + b(i + 48) + b(i + 49) + b(i + 50) + b(i + 51) + b(i + 52) + b(i + 53) + b(i + 54) + b(i + 55) + b(i + 56) + b(i + 57) + b(i + 58) + b(i + 59) + b(i + 60) + b(i + 61) + b(i + 62) + b(i + 63) + b(i + 64) + b(i + 65) + b(i + 66) + b(i + 67) + b(i + 68) + b(i + 69)
--- stderr
too_many_indices.distal:4:756: error: a statement has at most 64 index variables; indices such as i + 1, ranges, and variables that commands make count as well
   4 |  56) + b(i + 57) + b(i + 58) + b(i + 59) + b(i + 60) + b(i + 61) + b(i + 62) + b(i + 63) + b(i + 64) + b(i + 65) + b(i + 66) + b(i + 67) + b(i + 68) + b(i + 69)
     |                                                                                  ^~~~~~
