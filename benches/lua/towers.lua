-- The towers of Hanoi: discs are linked lists on three piles, and each move checks that no disc lies on a smaller one.
-- longer: 23
local n = tonumber(arg[1]) or 21

local Towers = {}
Towers.__index = Towers

function Towers.new(discs)
  local self = setmetatable({ piles = { false, false, false }, moves = 0, sum = 0 }, Towers)
  for size = discs, 1, -1 do self:push(size, 1) end
  return self
end

function Towers:push_disc(disc, pile)
  local top = self.piles[pile]
  if top and disc.size >= top.size then error("a big disc on a small one") end
  disc.next = top
  self.piles[pile] = disc
end

function Towers:push(size, pile)
  self:push_disc({ size = size, next = false }, pile)
end

function Towers:pop(pile)
  local top = self.piles[pile]
  if not top then error("the pile is empty") end
  self.piles[pile] = top.next
  top.next = false
  return top
end

function Towers:move(from, to)
  local disc = self:pop(from)
  self:push_disc(disc, to)
  self.moves = self.moves + 1
  self.sum = (self.sum * 3 + disc.size * from + to) % 1000003
end

function Towers:solve(discs, from, to)
  if discs == 1 then return self:move(from, to) end
  local other = 6 - from - to
  self:solve(discs - 1, from, other)
  self:move(from, to)
  self:solve(discs - 1, other, to)
end

local towers = Towers.new(n)
towers:solve(n, 1, 3)
local sum = towers.sum + towers.moves
print("towers " .. n .. " " .. sum)
assert(n ~= 21 or sum == 2814248)
