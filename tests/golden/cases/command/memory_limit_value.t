# run: plan {file} --memory-limit 1.5G --memory-limit 0 --memory-limit=10X --memory-limit 99999999T --memory-limit
# status: 2
--- program
tensor A: f64
A = 1
--- stderr
distal: error: '1.5G' of --memory-limit is not a number of bytes, such as 800000, 512M or 2G
distal: error: '0' of --memory-limit is not a number of bytes, such as 800000, 512M or 2G
distal: error: '10X' of --memory-limit is not a number of bytes, such as 800000, 512M or 2G
distal: error: '99999999T' of --memory-limit is not a number of bytes, such as 800000, 512M or 2G
distal: error: --memory-limit needs a value: --memory-limit BYTES
'distal help' lists commands and options
