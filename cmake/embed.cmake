# Writes the text of INPUT into the C file OUTPUT as a zero-terminated char array named SYMBOL.
# An array of bytes, as C11 promises no string literal longer than 4095 characters.
file(READ "${INPUT}" bytes HEX)
file(READ "${INPUT}" text)
if(text MATCHES "[^\t\n -~]")
  message(FATAL_ERROR "${INPUT} holds a character outside ASCII")
endif()
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REPEAT "0x..," 16 line)
string(REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "// SPDX-License-Identifier: BSD-3-Clause
extern const char ${SYMBOL}[];
const char ${SYMBOL}[] = {
${bytes}0x00};
")
