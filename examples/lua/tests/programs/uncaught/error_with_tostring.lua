error(setmetatable({}, { __tostring = function() return "an object that says this" end }))
