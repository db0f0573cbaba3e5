# run: help plan
--- program
tensor a: f64
--- stdout
usage: distal plan FILE [options]

print who sends what to whom, without data and without MPI
For each tensor: the pattern of its communication, the loop where that happens, steps, bytes and messages
that a rank receives (for `reduce`: sends), bytes at home and in buffers; and the peak of each rank.
Threads that add to copies of their own (`parallelize` with `reduction`) count as --threads says, without it
as one.

options:
  -e TEXT                 the program itself, in place of FILE
  -p, --param NAME=INT    set a param of the program; repeatable
  -n, --ranks N           number of processes (default: as many as the machine of the program needs)
  --threads N             threads of each process (default: the cores, shared among the processes of
                          a node)
  --memory-limit BYTES    refuse what takes more memory of a process; K, M, G or T may follow
                          (default: what is free on a node, shared by its processes)
  --stats[=text|json]     figures, as a table (default) or as one JSON object on standard output
  -v, --verbose           say more on standard error
  -q, --quiet             say nothing but errors on standard error
  -h, --help              help on the command
