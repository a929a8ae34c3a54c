#!/usr/bin/env lua
print("the first line is skipped", debug.getinfo(1).currentline)
do return 5 end
