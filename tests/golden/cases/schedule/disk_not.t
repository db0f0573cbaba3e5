# What is placed in memory stays there.
# run: schedule {file} --memory-limit 100K
# status: 1
--- program
machine M = grid(2)
tensor A(300, 300): f64
tensor B(300, 300): f64
place A(x, y) -> M(x)
A(i, j) = B(j, i)
--- stderr
disk_not.distal:5:1: error: no schedule was found that keeps a rank within 102400 B of memory: this statement needs 360008 B on 2 ranks
   5 | A(i, j) = B(j, i)
     | ^~~~~~~~~~~~~~~~~
disk_not.distal:4:7: note: of a tensor in disk, 'place A(...) -> M(...) in disk', only parts are in memory
   4 | place A(x, y) -> M(x)
     |       ^~~~~~~~~~~~~~~
disk_not.distal: note: more ranks need less memory each
