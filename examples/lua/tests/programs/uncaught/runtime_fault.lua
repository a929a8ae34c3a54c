local t = {}
print(t.x)
print(t.x.y)
