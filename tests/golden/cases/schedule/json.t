# run: schedule {file} -n 2 --stats=json
--- program
param m = 601, n = 397, q = 853
tensor A(m, n): f64
tensor B(m, q): f64
tensor C(q, n): f64
A(i, j) = B(i, k) * C(k, j)
--- stdout
{"program": "json.distal", "ranks": 2, "seconds": 0.00046919, "peak_bytes": 6273920, "statements": [
  {"target": "A", "alternatives": [
    {"seconds": 0.00046919, "bytes": 955976, "messages": 1, "disk_bytes": 0, "peak_bytes": 6273920, "fits": true, "where": "grid(2) over k", "how": "at once"},
    {"seconds": 0.000480728, "bytes": 955976, "messages": 1, "disk_bytes": 0, "peak_bytes": 6273920, "fits": true, "where": "grid(2) over k", "how": "A in chunks of 301 of i"},
    {"seconds": 0.000486621, "bytes": 955976, "messages": 2, "disk_bytes": 0, "peak_bytes": 5801128, "fits": true, "where": "grid(2) over k", "how": "A in chunks of 199 of j"},
    {"seconds": 0.000526301, "bytes": 1356152, "messages": 1, "disk_bytes": 0, "peak_bytes": 7075280, "fits": true, "where": "grid(2) over i", "how": "at once"},
    {"seconds": 0.000534237, "bytes": 1356152, "messages": 1, "disk_bytes": 0, "peak_bytes": 7072104, "fits": true, "where": "grid(2) over i", "how": "C shifted in 2 steps of k"},
    {"seconds": 0.000631465, "bytes": 1634984, "messages": 2, "disk_bytes": 0, "peak_bytes": 6952928, "fits": true, "where": "grid(2) over k", "how": "A, C in chunks of 199 of j"},
    {"seconds": 0.000687967, "bytes": 2053016, "messages": 1, "disk_bytes": 0, "peak_bytes": 8464200, "fits": true, "where": "grid(2) over j", "how": "B shifted in 2 steps of k"},
    {"seconds": 0.000700467, "bytes": 1981784, "messages": 2, "disk_bytes": 0, "peak_bytes": 7299728, "fits": true, "where": "grid(2) over k", "how": "A, B in chunks of 301 of i"},
    {"seconds": 0.000705365, "bytes": 1981784, "messages": 3, "disk_bytes": 0, "peak_bytes": 7303840, "fits": true, "where": "grid(2) over k", "how": "B in chunks of 214 of k"},
    {"seconds": 0.000746072, "bytes": 2380952, "messages": 2, "disk_bytes": 0, "peak_bytes": 9128296, "fits": true, "where": "", "how": "no schedule"},
    {"seconds": 0.00075404, "bytes": 2380952, "messages": 2, "disk_bytes": 0, "peak_bytes": 8096904, "fits": true, "where": "grid(2) over i", "how": "B, C shifted in 2 steps of k"},
    {"seconds": 0.000805817, "bytes": 1356152, "messages": 1, "disk_bytes": 0, "peak_bytes": 5719128, "fits": true, "where": "grid(2) over i", "how": "C in chunks of 427 of k"},
    {"seconds": 0.000815335, "bytes": 1356152, "messages": 2, "disk_bytes": 0, "peak_bytes": 5724128, "fits": true, "where": "grid(2) over i", "how": "C in chunks of 199 of j"},
    {"seconds": 0.000942037, "bytes": 3207176, "messages": 3, "disk_bytes": 0, "peak_bytes": 11258928, "fits": true, "where": "grid(2) over j", "how": "at once"},
    {"seconds": 0.000949146, "bytes": 3206168, "messages": 3, "disk_bytes": 0, "peak_bytes": 10573328, "fits": true, "where": "grid(2) over j", "how": "B, C shifted in 2 steps of k"},
    {"seconds": 0.00102562, "bytes": 2380952, "messages": 2, "disk_bytes": 0, "peak_bytes": 6743928, "fits": true, "where": "grid(2) over i", "how": "B, C in chunks of 427 of k"},
    {"seconds": 0.00109864, "bytes": 2053016, "messages": 1, "disk_bytes": 0, "peak_bytes": 6415992, "fits": true, "where": "grid(2) over j", "how": "B in chunks of 427 of k"},
    {"seconds": 0.00110321, "bytes": 2053016, "messages": 2, "disk_bytes": 0, "peak_bytes": 6421808, "fits": true, "where": "grid(2) over j", "how": "B in chunks of 301 of i"},
    {"seconds": 0.00114884, "bytes": 2860376, "messages": 3, "disk_bytes": 0, "peak_bytes": 8727344, "fits": true, "where": "grid(2) over i", "how": "A, C in chunks of 199 of j"},
    {"seconds": 0.00135982, "bytes": 3206168, "messages": 3, "disk_bytes": 0, "peak_bytes": 8525120, "fits": true, "where": "grid(2) over j", "how": "B, C in chunks of 427 of k"},
    {"seconds": 0.00136253, "bytes": 3207176, "messages": 3, "disk_bytes": 0, "peak_bytes": 8725712, "fits": true, "where": "grid(2) over j", "how": "A, B in chunks of 301 of i"}
  ]}],
"text": "param m = 601, n = 397, q = 853\u000amachine M = grid(2)\u000atensor A(m, n): f64\u000atensor B(m, q): f64\u000atensor C(q, n): f64\u000aplace A(x0, x1) -> M(x0)\u000aplace B(x0, x1) -> M(x1)\u000aplace C(x0, x1) -> M(x0)\u000a\u000aA(i, j) = B(i, k) * C(k, j)\u000a\u000aschedule A {\u000a  distribute({k}, {ko}, {ki}, M)\u000a}\u000a"}
