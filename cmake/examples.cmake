# Writes the C file OUTPUT: the names of the programs in the folder INPUT, and the first sentence of the comment that
# each begins with (cli/examples.h).
file(GLOB paths LIST_DIRECTORIES false "${INPUT}/*.distal")
set(rows "")
foreach(path IN LISTS paths)
  cmake_path(GET path FILENAME name)
  file(READ "${path}" text)
  string(REGEX MATCH "^(#[^\n]*\n)+" comment "${text}")
  string(REGEX REPLACE "\n?# ?" " " comment "${comment}")
  string(REGEX REPLACE "[.] [A-Z].*" "" about "${comment}")
  string(REGEX REPLACE " [(][^()]*(19|20|DISTAL)[^()]*[)]" "" about "${about}")
  string(STRIP "${about}" about)
  string(REGEX REPLACE "\\.$" "" about "${about}")
  string(REGEX REPLACE "([\\\\\"])" "\\\\\\1" about "${about}")
  string(APPEND rows "    {\"${name}\", \"${about}\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// SPDX-License-Identifier: BSD-3-Clause
#include \"cli/examples.h\"

const Example examples[] = {
${rows}};
const int example_count = sizeof examples / sizeof *examples;
")
