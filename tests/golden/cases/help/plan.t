# run: help plan
--- program
tensor a: f64
--- stdout
usage: distal plan FILE [options]

print messages and memory of each rank, without data and without MPI
Lists for each tensor the pattern of its communication, the loop at which it is communicated, the
number of steps, the bytes and messages that a rank receives (for reductions: sends), and the bytes
at home and in buffers; for each statement, flop and the peak memory of a rank. With --threads N the
memory includes the copies of results that N threads add to (`parallelize` with `reduction`). What a
sparse tensor stores is known where --in gives it; inputs of dense tensors are not read. With
--machine FILE it predicts for each statement how long a described machine takes, of which
computing, memory, network and disk, and gives a lower bound of what has to move.

options:
  -e TEXT                 the text of the program, instead of FILE
  -p, --param NAME=INT    set a param of the program; repeatable
  -n, --ranks N           number of processes (default: as many as the machine of the program needs)
  --threads N             threads of each process (default: the cores, shared among the processes of
                          a node)
  --in TENSOR=SOURCE      where an input comes from: PATH.npy, PATH.mtx, PATH.tns, PATH.h5,
                          PATH.h5:/NAME, zeros, ones, iota, const:V, random:SEED[:DENSITY],
                          sparse:SEED:COUNT, rmat:SEED:SCALE:EDGES or stencil:POINTS (default:
                          random:1, random:2, ... in order of declaration)
  --in-place TENSOR       the home of a tensor in disk is the file of its --in, or of its --out
                          where the program computes it; repeatable
  --memory-limit BYTES    refuse to run if a process needs more memory; K, M, G or T may follow
                          (default: the free memory of a node, shared by its processes)
  --gpu-memory-limit BYTES
                          the same for the GPU memory of a process (default: what is free there)
  --pipeline on|off       whether fetches in loops start a step ahead, which takes a second buffer
                          each, where memory allows it (default: those from memory of the host to a
                          GPU)
  --shared-memory on|off|N
                          whether ranks of a node read what others have at home in place of getting
                          it in messages; N: of nodes of N ranks (default: on for `run`, off for
                          `plan`)
  --machine FILE          predict times for the machine that FILE describes
  --stats[=text|json]     figures, as a table (default) or as one JSON object on standard output
  -W WARNING              error makes errors of warnings, error=NAME of one; no-NAME switches it
                          off: fused-product, many-steps, one-computes, costly-place, outside,
                          unmatched-index, not-finite
  -v, --verbose           print more on standard error
  -q, --quiet             print only errors on standard error
  -h, --help              print help on the command
