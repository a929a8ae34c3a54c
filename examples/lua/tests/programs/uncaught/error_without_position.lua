error("only this", 0)
