local function none() end
local function one() return 1 end
local function three() return 1, 2, 3 end
local a, b, c, d = three()
print(a, b, c, d)
a, b, c, d = 0, three()
print(a, b, c, d)
a, b, c, d = three(), 10
print(a, b, c, d)
a, b = none()
print(a, b)
a, b, c = none(), one()
print(a, b, c)
print(none()) print((none())) print(none(), none()) print(three(), three()) print((three()), (three()))
print(({ three() })[3], #{ three() }, ({ (three()) })[2])
