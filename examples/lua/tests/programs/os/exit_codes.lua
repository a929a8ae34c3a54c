print("before the end")
io.stdout:write("buffered text is written\n")
os.exit(7)
print("never")
