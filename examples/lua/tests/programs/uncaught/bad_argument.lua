print(("x"):rep(3))
print(string.rep())
