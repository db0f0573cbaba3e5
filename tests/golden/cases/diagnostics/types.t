# A value that the left side's type cannot hold.
# run: check {file}
# status: 2
--- program
tensor i(4): i32; tensor l(4): i64; tensor f(4): f32; tensor d(4): f64; tensor c(4): c64; tensor z(4): c128
i(x) = f(x)
i(x) = 0.5
l(x) = i(x) * 2.0
d(x) = f(x) * c(x)
f(x) = z(x)
# These are fine.
i(x) = l(x) / 2
f(x) = d(x) * 3000000000
c(x) = i(x) * 0.5
--- stderr
types.distal:2:1: error: the right side is f32, which cannot be stored in 'i' of type i32; declare 'i' as f32
   2 | i(x) = f(x)
     | ^~~~
types.distal:3:1: error: the right side is f64, which cannot be stored in 'i' of type i32; declare 'i' as f64
   3 | i(x) = 0.5
     | ^~~~
types.distal:4:1: error: the right side is f64, which cannot be stored in 'l' of type i64; declare 'l' as f64
   4 | l(x) = i(x) * 2.0
     | ^~~~
types.distal:5:1: error: the right side is c64, which cannot be stored in 'd' of type f64; declare 'd' as c64, or store real(...)
   5 | d(x) = f(x) * c(x)
     | ^~~~
types.distal:6:1: error: the right side is c128, which cannot be stored in 'f' of type f32; declare 'f' as c128, or store real(...)
   6 | f(x) = z(x)
     | ^~~~
