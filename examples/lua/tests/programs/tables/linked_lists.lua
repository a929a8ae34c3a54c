local list
for i = 1, 5 do list = { value = i, next = list } end
local function text(l) local t = {} while l do t[#t + 1] = l.value l = l.next end return table.concat(t, " ") end
print(text(list))
local function reverse(l) local r while l do l, l.next, r = l.next, r, l end return r end
local again = reverse(list)
print(text(again))
local function insert(l, v) if not l or v <= l.value then return { value = v, next = l } end l.next = insert(l.next, v) return l end
local sorted
for _, v in ipairs({ 5, 1, 4, 2, 3, 3 }) do sorted = insert(sorted, v) end
print(text(sorted))
local function remove(l, v) if not l then return nil end if l.value == v then return l.next end l.next = remove(l.next, v) return l end
sorted = remove(remove(sorted, 3), 1)
print(text(sorted), text(nil) == "")
local function merge(a, b)
  if not a then return b end
  if not b then return a end
  if a.value <= b.value then a.next = merge(a.next, b) return a end
  b.next = merge(a, b.next)
  return b
end
print(text(merge(sorted, insert(insert(nil, 10), 0))))
local ring = { name = "a" }
ring.next = { name = "b", next = { name = "c", next = ring } }
local at, seen = ring, {}
for _ = 1, 7 do seen[#seen + 1] = at.name at = at.next end
print(table.concat(seen))
