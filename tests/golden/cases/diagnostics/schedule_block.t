# Which statement a schedule block is about.
# run: check {file}
# status: 2
--- program
tensor A(8, 8): f64; tensor B(8, 8): f64; tensor s: f64
schedule A { split(i, io, ii, 4) }
A(i, j) = B(j, i)
schedule A { split(i, io, ii, 4) }
schedule A { split(i, io, ii, 4) }
schedule B { split(i, io, ii, 4) }
schedule { split(i, io, ii, 4) }
schedule A
schedule 3 { split(i, io, ii, 4) }
s = C(i, j)
schedule s { split(i, io, ii, 4) }
--- stderr
schedule_block.distal:2:10: error: the statement that assigns 'A' comes later, on line 3; a schedule block comes after its statement
   2 | schedule A { split(i, io, ii, 4) }
     |          ^
schedule_block.distal:5:10: error: every statement above that assigns 'A' already has a schedule block
   5 | schedule A { split(i, io, ii, 4) }
     |          ^
schedule_block.distal:6:10: error: no statement assigns 'B' (assigned: A)
   6 | schedule B { split(i, io, ii, 4) }
     |          ^
schedule_block.distal:7:10: error: expected the tensor that the statement assigns, found '{'
   7 | schedule { split(i, io, ii, 4) }
     |          ^
schedule_block.distal:8:11: error: expected '{' and schedule commands, found end of line
   8 | schedule A
     |           ^
schedule_block.distal:9:10: error: expected the tensor that the statement assigns, found '3'
   9 | schedule 3 { split(i, io, ii, 4) }
     |          ^
schedule_block.distal:10:5: error: unknown tensor 'C' (tensors: A B s)
  10 | s = C(i, j)
     |     ^
