# run: help run
--- program
tensor a: f64
--- stdout
usage: distal run FILE [options]

compile, launch, read inputs, compute, write outputs
Starts its own processes through `mpirun`, or through what DISTAL_MPIRUN names (a launcher with its
options, to which -n N is added), unless it is already running under an MPI launcher. Prints scalar
outputs that --out does not name. Other environment variables: DISTAL_CC and DISTAL_CFLAGS (the C
compiler and its flags), DISTAL_CC_TIMEOUT (the seconds that it may take, 300), XDG_CACHE_HOME
(compiled kernels are kept there, under distal/).

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
  --out TENSOR=PATH       write a tensor to PATH.npy, PATH.mtx, PATH.tns, PATH.csv, PATH.h5,
                          PATH.h5:/NAME after the run; TENSOR=- prints it
  --in-place TENSOR       the home of a tensor in disk is the file of its --in, or of its --out
                          where the program computes it; repeatable
  --print TENSOR          print a tensor after the run, without the middle of a large one;
                          repeatable
  --check[=all|sample]    compare with the reference evaluator, all elements or some thousand
                          (default: those above 10^11 operations); exit status 1 above the tolerance
  --repeat K              timed executions (default: 1)
  --warmup K              executions before the timed ones (default: 0)
  --memory-limit BYTES    refuse to run if a process needs more memory; K, M, G or T may follow
                          (default: the free memory of a node, shared by its processes)
  --gpu-memory-limit BYTES
                          the same for the GPU memory of a process (default: what is free there)
  --scratch FOLDER        where tensors in disk are kept while a program runs, on each node, or the
                          disk is measured; nothing remains (default: TMPDIR, or /tmp)
  --direct                read and write files in --scratch with direct I/O (O_DIRECT), which
                          bypasses the page cache
  --pipeline on|off       whether fetches in loops start a step ahead, which takes a second buffer
                          each, where memory allows it (default: those from memory of the host to a
                          GPU)
  --shared-memory on|off|N
                          whether ranks of a node read what others have at home in place of getting
                          it in messages; N: of nodes of N ranks (default: on for `run`, off for
                          `plan`)
  --machine FILE          predict times for the machine that FILE describes
  --auto                  with the placements and schedules that `distal schedule` finds
  --oversubscribe         allow more than 16 processes per core
  --stats[=text|json]     figures, as a table (default) or as one JSON object on standard output
  -W WARNING              error makes errors of warnings, error=NAME of one; no-NAME switches it
                          off: fused-product, many-steps, one-computes, costly-place, outside,
                          unmatched-index, not-finite
  -v, --verbose           print more on standard error
  -q, --quiet             print only errors on standard error
  -h, --help              print help on the command
