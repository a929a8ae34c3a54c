local ok, e = pcall(function() error("original") end)
io.stdout:write("caught: ", e, "\n")
error(e, 0)
