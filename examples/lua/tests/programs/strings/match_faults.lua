for _, pattern in ipairs({ "(", ")", "(()", "())", "%", "[", "[^", "[a-", "%b", "%f", "(x", "x)", "((x)", "[%a", "a%" }) do
  print(pattern, pcall(string.find, "xxx", pattern))
end
print(pcall(string.find, "x", ("(x)"):rep(33)))
print(pcall(string.match, ("x"):rep(40), ("(x)"):rep(33)))
print(select("#", string.match(("x"):rep(40), ("(x)"):rep(32))))
print(pcall(string.match, "x"))
print(pcall(string.match, nil, "x"))
print(pcall(string.gmatch, "x"))
print(pcall(string.gsub, "x", "("))
