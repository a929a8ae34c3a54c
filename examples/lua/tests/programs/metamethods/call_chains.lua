local t = setmetatable({ name = "t" }, { __call = function(self, ...) return self.name, select("#", ...), ... end })
print(t())
print(t(1, nil, 3))
print((t(1)))
print(t "text", t { 1 } ~= nil)
print(pcall(t, "through pcall"))
local function tail(...) return t(...) end
print(tail("tail", "call"))
local object = { method = t }
print(object.method("dot"), select("#", object:method("colon")))
for value in setmetatable({ n = 0 }, { __call = function(self) self.n = self.n + 1 if self.n <= 3 then return self.n end end }) do
  io.write(value, " ")
end
print()
print(pcall(setmetatable({}, { __call = 5 })))
print(pcall(setmetatable({}, { __call = setmetatable({}, { __call = print }) })))
print(table.concat({ (t(1, 2, 3)) }, ","))
print(pcall(function() local x = {} x() end))
