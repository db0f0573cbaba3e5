# run: help run
--- program
tensor a: f64
--- stdout
usage: distal run FILE [options]

compile, launch, read inputs, compute, write outputs
Starts its own processes through `mpirun`, or through what DISTAL_MPIRUN names (a launcher with its
options, to which -n N is added), unless it is running under an MPI launcher already. A scalar output
that --out does not name is printed.
Other environment: DISTAL_CC and DISTAL_CFLAGS (the C compiler, its flags), DISTAL_CC_TIMEOUT (the seconds
that it may take, 300), XDG_CACHE_HOME (compiled kernels are kept there, under distal/).

options:
  -e TEXT                 the program itself, in place of FILE
  -p, --param NAME=INT    set a param of the program; repeatable
  -n, --ranks N           number of processes (default: as many as the machine of the program needs)
  --threads N             threads of each process (default: the cores, shared among the processes of
                          a node)
  --in TENSOR=SOURCE      where an input comes from: PATH.npy, zeros, ones, iota, const:V or
                          random:SEED[:DENSITY] (default: random:1, random:2, ... in order of
                          declaration)
  --out TENSOR=PATH       write a tensor to PATH.npy after the run
  --check                 compare with the reference evaluator; exit status 1 above the tolerance
  --repeat K              timed executions (default: 1)
  --warmup K              executions before the timed ones (default: 0)
  --memory-limit BYTES    refuse what takes more memory of a process; K, M, G or T may follow
                          (default: what is free on a node, shared by its processes)
  --oversubscribe         start more than 16 processes a core, which are refused otherwise
  --stats[=text|json]     figures, as a table (default) or as one JSON object on standard output
  -v, --verbose           say more on standard error
  -q, --quiet             say nothing but errors on standard error
  -h, --help              help on the command
