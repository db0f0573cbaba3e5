# After many mistakes reading stops.
# run: check {file}
# status: 2
--- program
tensor A(8): f64
A(i) = B0(i)
A(i) = B1(i)
A(i) = B2(i)
A(i) = B3(i)
A(i) = B4(i)
A(i) = B5(i)
A(i) = B6(i)
A(i) = B7(i)
A(i) = B8(i)
A(i) = B9(i)
A(i) = B10(i)
A(i) = B11(i)
A(i) = B12(i)
A(i) = B13(i)
A(i) = B14(i)
A(i) = B15(i)
A(i) = B16(i)
A(i) = B17(i)
A(i) = B18(i)
A(i) = B19(i)
A(i) = B20(i)
A(i) = B21(i)
A(i) = B22(i)
A(i) = B23(i)
A(i) = B24(i)
A(i) = B25(i)
A(i) = B26(i)
A(i) = B27(i)
A(i) = B28(i)
A(i) = B29(i)
A(i) = B30(i)
A(i) = B31(i)
A(i) = B32(i)
A(i) = B33(i)
A(i) = B34(i)
A(i) = B35(i)
A(i) = B36(i)
A(i) = B37(i)
A(i) = B38(i)
A(i) = B39(i)
A(i) = B40(i)
A(i) = B41(i)
A(i) = B42(i)
A(i) = B43(i)
A(i) = B44(i)
A(i) = B45(i)
A(i) = B46(i)
A(i) = B47(i)
A(i) = B48(i)
A(i) = B49(i)
A(i) = B50(i)
A(i) = B51(i)
A(i) = B52(i)
A(i) = B53(i)
A(i) = B54(i)
A(i) = B55(i)
A(i) = B56(i)
A(i) = B57(i)
A(i) = B58(i)
A(i) = B59(i)
--- stderr
many.distal:2:8: error: unknown tensor 'B0' (tensors: A)
   2 | A(i) = B0(i)
     |        ^~
many.distal:3:8: error: unknown tensor 'B1' (tensors: A)
   3 | A(i) = B1(i)
     |        ^~
many.distal:4:8: error: unknown tensor 'B2' (tensors: A)
   4 | A(i) = B2(i)
     |        ^~
many.distal:5:8: error: unknown tensor 'B3' (tensors: A)
   5 | A(i) = B3(i)
     |        ^~
many.distal:6:8: error: unknown tensor 'B4' (tensors: A)
   6 | A(i) = B4(i)
     |        ^~
many.distal:7:8: error: unknown tensor 'B5' (tensors: A)
   7 | A(i) = B5(i)
     |        ^~
many.distal:8:8: error: unknown tensor 'B6' (tensors: A)
   8 | A(i) = B6(i)
     |        ^~
many.distal:9:8: error: unknown tensor 'B7' (tensors: A)
   9 | A(i) = B7(i)
     |        ^~
many.distal:10:8: error: unknown tensor 'B8' (tensors: A)
  10 | A(i) = B8(i)
     |        ^~
many.distal:11:8: error: unknown tensor 'B9' (tensors: A)
  11 | A(i) = B9(i)
     |        ^~
many.distal:12:8: error: unknown tensor 'B10' (tensors: A)
  12 | A(i) = B10(i)
     |        ^~~
many.distal:13:8: error: unknown tensor 'B11' (tensors: A)
  13 | A(i) = B11(i)
     |        ^~~
many.distal:14:8: error: unknown tensor 'B12' (tensors: A)
  14 | A(i) = B12(i)
     |        ^~~
many.distal:15:8: error: unknown tensor 'B13' (tensors: A)
  15 | A(i) = B13(i)
     |        ^~~
many.distal:16:8: error: unknown tensor 'B14' (tensors: A)
  16 | A(i) = B14(i)
     |        ^~~
many.distal:17:8: error: unknown tensor 'B15' (tensors: A)
  17 | A(i) = B15(i)
     |        ^~~
many.distal:18:8: error: unknown tensor 'B16' (tensors: A)
  18 | A(i) = B16(i)
     |        ^~~
many.distal:19:8: error: unknown tensor 'B17' (tensors: A)
  19 | A(i) = B17(i)
     |        ^~~
many.distal:20:8: error: unknown tensor 'B18' (tensors: A)
  20 | A(i) = B18(i)
     |        ^~~
many.distal:21:8: error: unknown tensor 'B19' (tensors: A)
  21 | A(i) = B19(i)
     |        ^~~
many.distal:22:8: error: unknown tensor 'B20' (tensors: A)
  22 | A(i) = B20(i)
     |        ^~~
many.distal:23:8: error: unknown tensor 'B21' (tensors: A)
  23 | A(i) = B21(i)
     |        ^~~
many.distal:24:8: error: unknown tensor 'B22' (tensors: A)
  24 | A(i) = B22(i)
     |        ^~~
many.distal:25:8: error: unknown tensor 'B23' (tensors: A)
  25 | A(i) = B23(i)
     |        ^~~
many.distal:26:8: error: unknown tensor 'B24' (tensors: A)
  26 | A(i) = B24(i)
     |        ^~~
many.distal:27:8: error: unknown tensor 'B25' (tensors: A)
  27 | A(i) = B25(i)
     |        ^~~
many.distal:28:8: error: unknown tensor 'B26' (tensors: A)
  28 | A(i) = B26(i)
     |        ^~~
many.distal:29:8: error: unknown tensor 'B27' (tensors: A)
  29 | A(i) = B27(i)
     |        ^~~
many.distal:30:8: error: unknown tensor 'B28' (tensors: A)
  30 | A(i) = B28(i)
     |        ^~~
many.distal:31:8: error: unknown tensor 'B29' (tensors: A)
  31 | A(i) = B29(i)
     |        ^~~
many.distal:32:8: error: unknown tensor 'B30' (tensors: A)
  32 | A(i) = B30(i)
     |        ^~~
many.distal:33:8: error: unknown tensor 'B31' (tensors: A)
  33 | A(i) = B31(i)
     |        ^~~
many.distal:34:8: error: unknown tensor 'B32' (tensors: A)
  34 | A(i) = B32(i)
     |        ^~~
many.distal:35:8: error: unknown tensor 'B33' (tensors: A)
  35 | A(i) = B33(i)
     |        ^~~
many.distal:36:8: error: unknown tensor 'B34' (tensors: A)
  36 | A(i) = B34(i)
     |        ^~~
many.distal:37:8: error: unknown tensor 'B35' (tensors: A)
  37 | A(i) = B35(i)
     |        ^~~
many.distal:38:8: error: unknown tensor 'B36' (tensors: A)
  38 | A(i) = B36(i)
     |        ^~~
many.distal:39:8: error: unknown tensor 'B37' (tensors: A)
  39 | A(i) = B37(i)
     |        ^~~
many.distal:40:8: error: unknown tensor 'B38' (tensors: A)
  40 | A(i) = B38(i)
     |        ^~~
many.distal:41:8: error: unknown tensor 'B39' (tensors: A)
  41 | A(i) = B39(i)
     |        ^~~
many.distal:42:8: error: unknown tensor 'B40' (tensors: A)
  42 | A(i) = B40(i)
     |        ^~~
many.distal:43:8: error: unknown tensor 'B41' (tensors: A)
  43 | A(i) = B41(i)
     |        ^~~
many.distal:44:8: error: unknown tensor 'B42' (tensors: A)
  44 | A(i) = B42(i)
     |        ^~~
many.distal:45:8: error: unknown tensor 'B43' (tensors: A)
  45 | A(i) = B43(i)
     |        ^~~
many.distal:46:8: error: unknown tensor 'B44' (tensors: A)
  46 | A(i) = B44(i)
     |        ^~~
many.distal:47:8: error: unknown tensor 'B45' (tensors: A)
  47 | A(i) = B45(i)
     |        ^~~
many.distal:48:8: error: unknown tensor 'B46' (tensors: A)
  48 | A(i) = B46(i)
     |        ^~~
many.distal:49:8: error: unknown tensor 'B47' (tensors: A)
  49 | A(i) = B47(i)
     |        ^~~
many.distal:50:8: error: unknown tensor 'B48' (tensors: A)
  50 | A(i) = B48(i)
     |        ^~~
many.distal:51:8: error: unknown tensor 'B49' (tensors: A)
  51 | A(i) = B49(i)
     |        ^~~
many.distal: note: reading stops after 50 errors
