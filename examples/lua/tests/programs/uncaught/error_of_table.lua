io.write("no line end before it")
error({ code = 1 })
