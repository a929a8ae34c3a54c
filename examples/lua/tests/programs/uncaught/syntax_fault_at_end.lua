if true then
  print("never")
