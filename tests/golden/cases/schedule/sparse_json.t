# run: schedule {file} -n 2 --stats=json
--- program
tensor y(50): f64
tensor B(50, 50): f64, coo
tensor x(50): f64
y(i) = B(i, j) * x(j)
--- stdout
{"program": "sparse_json.distal", "ranks": 2, "seconds": 5.1747e-07, "peak_bytes": 4320, "assumed_entries": {"B": 455}, "statements": [
  {"target": "y", "alternatives": [
    {"seconds": 5.1747e-07, "bytes": 0, "messages": 0, "disk_bytes": 0, "peak_bytes": 4320, "fits": true, "where": "grid(2) over weighted(i)", "how": "at once"},
    {"seconds": 5.17832e-07, "bytes": 0, "messages": 0, "disk_bytes": 0, "peak_bytes": 4424, "fits": true, "where": "grid(2) over i", "how": "at once"},
    {"seconds": 5.34209e-07, "bytes": 0, "messages": 0, "disk_bytes": 0, "peak_bytes": 8096, "fits": true, "where": "", "how": "no schedule, on one rank"},
    {"seconds": 1.42477e-06, "bytes": 16, "messages": 1, "disk_bytes": 0, "peak_bytes": 4480, "fits": true, "where": "grid(2) over ~fuse(i, j)", "how": "at once"},
    {"seconds": 1.46647e-06, "bytes": 200, "messages": 1, "disk_bytes": 0, "peak_bytes": 4456, "fits": true, "where": "grid(2) over weighted(j)", "how": "at once"},
    {"seconds": 1.46744e-06, "bytes": 200, "messages": 1, "disk_bytes": 0, "peak_bytes": 4688, "fits": true, "where": "grid(2) over j", "how": "at once"}
  ]}],
"text": "machine M = grid(2)\u000atensor y(50): f64\u000atensor B(50, 50): f64, {compressed(nonunique), singleton}\u000atensor x(50): f64\u000aplace B(x0, x1) -> M(weighted(x0))\u000aplace x(x0) -> M(*)\u000aplace y(x0) -> M(weighted(x0, B))\u000a\u000ay(i) = B(i, j) * x(j)\u000a"}
