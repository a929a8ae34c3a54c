local f, message, where = package.loadlib("no/such/library.so", "function")
print(f, type(message), type(where))
print(package.loadlib("no/such/library.so", "*") == nil)
print(pcall(package.loadlib))
print(pcall(package.loadlib, "x"))
package.cpath = ""
package.path = 5
print(pcall(require, "with a number as path"))
package.path = nil
print(pcall(require, "without a path"))
package.path = ""
print(pcall(require, "with empty paths"))
package.preload = nil
print(pcall(require, "without preload"))
