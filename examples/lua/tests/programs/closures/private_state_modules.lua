local Account = (function()
  local balances = setmetatable({}, { __mode = "k" })
  local module = {}
  module.__index = module
  function module.new(amount) local self = setmetatable({}, module) balances[self] = amount or 0 return self end
  function module:deposit(n) assert(n > 0, "positive") balances[self] = balances[self] + n return self end
  function module:withdraw(n)
    if n > balances[self] then return nil, "insufficient: " .. balances[self] end
    balances[self] = balances[self] - n
    return n
  end
  function module:balance() return balances[self] end
  return module
end)()
local a, b = Account.new(100), Account.new()
a:deposit(50):deposit(25)
print(a:balance(), b:balance(), a:withdraw(30), a:withdraw(1000))
print(a:balance(), a.balances, pcall(a.deposit, a, -1))
