# run: help calibrate
--- program
--- stdout
usage: distal calibrate [-o FILE] [options]

measure this machine, and describe it for plan --machine
Measures in about a minute the rate of matrix products by size, of other kernels and of memory;
latency and bandwidth of messages between the ranks, and what collective operations take; and disks
in the folder of --scratch. Ranks are one for each core, unless -n says how many. Prints a
description of the machine, in which comments say how much the samples of each figure spread.
Nothing else should use the machine meanwhile.

options:
  -n, --ranks N           number of processes (default: as many as the machine of the program needs)
  --scratch FOLDER        where tensors in disk are kept while a program runs, on each node, or the
                          disk is measured; nothing remains (default: TMPDIR, or /tmp)
  --oversubscribe         allow more than 16 processes per core
  -o FILE                 write to FILE instead of standard output
  -v, --verbose           print more on standard error
  -q, --quiet             print only errors on standard error
  -h, --help              print help on the command
