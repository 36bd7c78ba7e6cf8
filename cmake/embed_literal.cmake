# SPDX-License-Identifier: MIT
# literal(TEXT RESULT): TEXT as a literal of C++, for the scripts that embed texts.

# A compiler need not take a literal of more than 64 KiB; pieces that stand side by side are one.
function(literal text result)
  set(pieces "")
  string(LENGTH "${text}" length)
  set(begin 0)
  while(begin LESS length)
    string(SUBSTRING "${text}" ${begin} 8000 piece)
    string(APPEND pieces "\n    R\"ingot(${piece})ingot\"")
    math(EXPR begin "${begin} + 8000")
  endwhile()
  set(${result} "${pieces}" PARENT_SCOPE)
endfunction()
