-- A machine of states driven by a script of commands.
local world = {
  hall = { text = "a hall", exits = { north = "library", east = "kitchen" }, items = { "lamp" } },
  library = { text = "a library", exits = { south = "hall", up = "attic" }, items = { "book", "key" } },
  kitchen = { text = "a kitchen", exits = { west = "hall" }, items = {} },
  attic = { text = "a dark attic", exits = { down = "library" }, items = { "treasure" }, locked = true },
}
local player = { room = "hall", items = {}, moves = 0 }
local function index_of(list, value) for i, v in ipairs(list) do if v == value then return i end end end
local function list(items) return #items == 0 and "nothing" or table.concat(items, ", ") end
local commands = {}
function commands.look()
  local room, exits = world[player.room], {}
  for direction in pairs(room.exits) do exits[#exits + 1] = direction end
  table.sort(exits)
  return ("You are in %s. You see %s. Exits: %s."):format(room.text, list(room.items), table.concat(exits, " "))
end
function commands.go(direction)
  local to = world[player.room].exits[direction]
  if not to then return "You cannot go " .. tostring(direction) .. "." end
  if world[to].locked and not index_of(player.items, "key") then return "It is locked." end
  player.room, player.moves = to, player.moves + 1
  return commands.look()
end
function commands.take(item)
  local items = world[player.room].items
  local at = index_of(items, item)
  if not at then return "There is no " .. tostring(item) .. "." end
  table.insert(player.items, table.remove(items, at))
  return "Taken: " .. item .. "."
end
function commands.drop(item)
  local at = index_of(player.items, item)
  if not at then return "You have no " .. tostring(item) .. "." end
  table.insert(world[player.room].items, table.remove(player.items, at))
  return "Dropped."
end
function commands.inventory() return "You carry " .. list(player.items) .. " after " .. player.moves .. " moves." end
setmetatable(commands, { __index = function(_, name) return function() return "I do not know how to " .. name .. "." end end })
local script = [[
look
take lamp
take sword
go north
go up
take key
drop lamp
go up
take treasure
dance
go down
look
go west
inventory
]]
for line in script:gmatch("[^\n]+") do
  local command, argument = line:match("^(%a+)%s*(%a*)$")
  print("> " .. line)
  print(commands[command](argument ~= "" and argument or nil))
end
