print("\a\b\f\n\r\t\v\\\"\'" == string.char(7, 8, 12, 10, 13, 9, 11, 92, 34, 39))
print("\65\066\0670", "\1\02\003" == string.char(1, 2, 3))
print('it\'s "quoted"', "it's \"quoted\"")
print("line \
break")
print("\q\w\x\z")
print(#"\0\0001", "\0001" == "\0" .. "1")
print("\255" == string.char(255), "\10" == "\n")
print("tab\tend", "no\\escape")
print('\n' == "\n", #'\\n')
print("a\
\
b")
