# run: help types
--- program
tensor a: f64
--- stdout
types: types of elements

The types of elements are
  i32 i64 f32 f64 c64 c128
c64 is two f32, c128 two f64. A statement computes in the type that NumPy's promotion gives for its
tensors and numbers, of which 2i is imaginary. A complex value is not stored in a real tensor, nor a
real one in an integer tensor. Integers wrap around.
