# run: plan {file} --memory-limit 1.5G --memory-limit 0 --memory-limit=10X --memory-limit 99999999T --memory-limit
# status: 2
--- program
tensor A: f64
A = 1
--- stderr
distal: error: invalid value '1.5G' for --memory-limit: expected a number of bytes, such as 800000, 512M or 2G
distal: error: invalid value '0' for --memory-limit: expected a number of bytes, such as 800000, 512M or 2G
distal: error: invalid value '10X' for --memory-limit: expected a number of bytes, such as 800000, 512M or 2G
distal: error: invalid value '99999999T' for --memory-limit: expected a number of bytes, such as 800000, 512M or 2G
distal: error: --memory-limit needs a value: --memory-limit BYTES
'distal help' lists commands and options
