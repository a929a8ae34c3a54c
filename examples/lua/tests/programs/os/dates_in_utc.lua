print(os.date("!%Y-%m-%d %H:%M:%S", 0))
print(os.date("!%Y-%m-%d %H:%M:%S", 1e9))
print(os.date("!%d/%m/%y %j %w %p %I", 86400 * 59))
print(os.date("!%a %A %b %B", 0), os.date("!%%", 0), os.date("!", 0) == "")
print(os.date("!%c|%x|%X", 0))
local t = os.date("!*t", 1234567890)
print(t.year, t.month, t.day, t.hour, t.min, t.sec, t.wday, t.yday, t.isdst)
print(os.date("!text only", 0))
print(os.date("!%H", 3600 * 5), os.date("!%M", 60 * 7), os.date("!%S", 8))
local keys = {}
for key in pairs(os.date("*t")) do keys[#keys + 1] = key end
table.sort(keys)
print(table.concat(keys, " "))
print(type(os.date()), #os.date("%Y"))
