-- There is but the locale C.
local P = print
P("sl1", pcall(os.setlocale))
for _, l in ipairs { "C", "POSIX", "xx", "xx_YY.UTF-8", "de_XX" } do for _, c in ipairs { "all", "collate", "ctype", "monetary", "numeric", "time" } do P("sl", l, c, pcall(os.setlocale, l, c)) end end
P("sl2", pcall(os.setlocale, "C", "none"))
P("sl3", pcall(os.setlocale, nil, "numeric"))
P("sl4", pcall(os.setlocale, 5))
P("sl5", pcall(os.setlocale, {}))
P("sl6", pcall(os.setlocale, "C", 5))
P("sl7", pcall(os.setlocale, "C", nil))
P("sl8", pcall(os.setlocale, "C\0x"))
