local function try(f, ...) print(select(2, pcall(f, ...))) end
local object = { inner = {} }
try(function() object.inner.leaf.value = 1 end)
try(function() local alias = object.inner alias.leaf.value = 1 end)
try(function() object.inner.method() end)
try(function() object.inner:method() end)
try(function() object["inner"]["two words"]() end)
try(function() object.inner[object]() end)
try(function() local a = { b = {} } a.b.c.d() end)
local function outer() local cell = nil return function() return cell.field end end
try(outer())
local function param(argument) return argument.field end
try(param)
try(param, 5)
local function loop() for i = 1, 1 do i.x = 1 end end
try(loop)
local function generic() for k, v in pairs({ a = 1 }) do return v.x end end
try(generic)
try(function() local function inner() end return inner.x.y end)
try(function() return _G.missing.x end)
try(function() return _G["missing"].x end)
try(function() string.format.x = 1 end)
