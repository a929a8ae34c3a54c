print("printed before")
local function fails() error("the message") end
fails()
