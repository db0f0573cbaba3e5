# Beginnings of several options, and letters that are none: nothing is said of those behind.
# run: run --s --qui=1 -stats=json -vx --o=A --in {file} {file} -q more -- --help
# status: 2
--- program
tensor a: f64
a = 1
--- stderr
distal: error: '--s' is ambiguous: it could be --scratch or --shared-memory or --stats or --stop-after
distal: error: --quiet takes no value
distal: error: unknown option '-stats'; did you mean '--stats'?
distal: error: unknown option '-vx'
distal: error: '--o' is ambiguous: it could be --out or --oversubscribe
distal: error: invalid value 'abbreviations_wrong.distal' for --in: expected TENSOR=SOURCE
distal: error: unexpected argument 'more'
distal: error: unexpected argument '--help'
distal: error: both -v and -q are given
'distal help' lists commands and options
