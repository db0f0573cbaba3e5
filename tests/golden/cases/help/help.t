# run: help
--- program
tensor a: f64
--- stdout
distal compiles and runs distributed tensor algebra.

usage: distal COMMAND FILE [options]    (FILE: a program, - for standard input)
       distal COMMAND -e TEXT [options]
       distal --version

commands:
  check FILE              parse, check and schedule a program; print nothing if it is correct
  explain FILE            print the representations of a program, from index notation to SPMD
  emit FILE               print the generated C
  plan FILE               print messages and memory of each rank, without data and without MPI
  schedule FILE           choose placements and schedules by predicted time, and print the program
                          with them
  run FILE                compile, launch, read inputs, compute, write outputs
  calibrate [-o FILE]     measure this machine, and describe it for plan --machine
  help [TOPIC]            this text, or help on a command, a schedule command or any word of the
                          language

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
  -o FILE                 write to FILE instead of standard output
  --stop-after PASS       print one representation: program, cin, schedule, spmd, loops, c or plan;
                          or loops:PASS for the loops after one pass: lowered, overlap, pipeline,
                          transposes, tiles, invariants, threads, vectors, launches, sums, blocks,
                          loads, registers, strips, prefetch, portions, streams, addresses or unused
  -W WARNING              error makes errors of warnings, error=NAME of one; no-NAME switches it
                          off: fused-product, many-steps, one-computes, costly-place, outside,
                          unmatched-index, not-finite
  -v, --verbose           print more on standard error
  -q, --quiet             print only errors on standard error
  -h, --help              print help on the command

schedule commands:
  split(i, io, ii, s)     i becomes io and, inside, ii with extent s
  divide(i, io, ii, c)    i becomes io with extent c and, inside, ii
  collapse(i, j, f)       i and j, directly nested, become one loop f
  reorder({i, ...})       the named loops, in this order, in the places that they hold now
  distribute({i, ...}, {io, ...}, {ii, ...}, M)
                          iterations of i on different processors; with M, a machine, a level of it
                          or a tensor, i is divided into io, distributed, and ii
  communicate({T, ...}, i)
                          gather what each T needs under one iteration of i at its start
  rotate(t, {i, ...}, r)  t = (r + i + ...) mod extent(t): the systolic shift
  substitute({i, ...}, KERNEL)
                          the named innermost loops become a library call: gemm, gemv, ger, dot,
                          axpy, blas, loops
  parallelize(i, UNIT, RACE)
                          iterations of i onto cpu_thread, cpu_vector, gpu_block, gpu_warp or
                          gpu_thread; RACE (none, atomic, reduction, temporary) may be left out
  precompute(EXPR, {i, ...}, {w, ...}, W[, FORMAT])
                          EXPR, an operand or factors of a product, is computed ahead into a
                          workspace W(i, ...), in loops w, ...; its other variables are summed
                          there; FORMAT, such as csr, is how its entries are stored
  unroll(i, n)            unroll i, n iterations at a time
  pos(i, p, B(i, ...))    i becomes p, the positions at which B stores entries: parts of p have as
                          many entries each

topics:
  program                 the parts of a program
  param                   integers that the command line sets
  machine                 grids of processors
  tensor                  names, extents, types and storage of tensors
  types                   types of elements
  formats                 named ways to store sparse tensors
  levels                  how the modes of a tensor are stored
  place                   where tensors live
  notation                what statements compute
  reductions              sums, products, maxima and minima
  indices                 indices that are more than a variable
  repeat                  statements that are executed several times
  functions               functions on the right side
  schedule                how loops map onto processors, threads and library calls
  kernels                 library calls and generated loops of substitute
  units                   who executes a loop
  generators              inputs that are generated
  files                   files of tensors
  warnings                what is right, and probably not meant
  environment             variables that the command reads
  examples                programs to begin with
  man-page                this and all topics as a page for man(1)
  bash-completion         a script that completes this command in bash
'distal help WORD' explains any word of the language, as 'distal help csr'.

exit status: 0 success; 1 the computation failed; 2 an error in the program or on the command line
