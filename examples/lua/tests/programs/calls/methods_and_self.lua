local object = { value = 10 }
function object.plain(a) return a end
function object:method(a) return self.value, a end
function object.inner() return object end
object.nested = { deep = { value = 5 } }
function object.nested.deep:get(n) return self.value + n end
print(object.plain(1), object:method(2))
print(object.method({ value = 20 }, 3))
print(object.inner():method("chained"))
print(object.nested.deep:get(1), object["nested"]["deep"].get({ value = 100 }, 1))
print(object:plain() == object, object.inner().inner().inner() == object)
local m = object.method
print(m(object, "x"))
object["with blank"] = function(self) return self == object end
print(object["with blank"](object))
print(pcall(function() return object:absent() end))
print(pcall(function() return object.nested:absent() end))
print(pcall(function() return object.absent.method() end))
print(pcall(function() return object.method() end))
