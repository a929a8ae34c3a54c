-- A step of zero or less goes downwards, so it ends at once if the start is less than the limit.
local count = 0
for i = 1, 5, 0 do count = count + 1 break end
print(count)
count = 0
for i = 5, 1, 0 do count = count + 1 if count == 10 then break end end
print(count)
local nan = 0 / 0
count = 0
for i = nan, 5 do count = count + 1 break end
for i = 1, nan do count = count + 1 break end
for i = 1, 5, nan do count = count + 1 break end
print(count)
for i = 3, 1 do print("never") end
