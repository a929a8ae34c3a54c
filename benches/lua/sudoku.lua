-- Solves sudokus by always filling the cell with the fewest candidates. The puzzles are one puzzle with its digits exchanged.
-- longer: 43
local n = tonumber(arg[1]) or 8

local PUZZLE = "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4.."

local function box(row, column)
  return (row - 1 - (row - 1) % 3) + (column - 1 - (column - 1) % 3) / 3 + 1
end

local function sets()
  local all = {}
  for i = 1, 9 do
    all[i] = { false, false, false, false, false, false, false, false, false }
  end
  return all
end

local function read(text, shift)
  local board = { cells = {}, rows = sets(), columns = sets(), boxes = sets(), steps = 0 }
  for at = 1, 81 do
    local column = (at - 1) % 9 + 1
    local row = (at - column) / 9 + 1
    local digit = tonumber(text:sub(at, at)) or 0
    if digit > 0 then
      digit = (digit - 1 + shift) % 9 + 1
      board.rows[row][digit] = true
      board.columns[column][digit] = true
      board.boxes[box(row, column)][digit] = true
    end
    board.cells[at] = { row = row, column = column, box = box(row, column), digit = digit }
  end
  return board
end

local function narrowest(board)
  local best, fewest = nil, 10
  for _, cell in ipairs(board.cells) do
    if cell.digit == 0 then
      local row, column, square = board.rows[cell.row], board.columns[cell.column], board.boxes[cell.box]
      local count = 0
      for digit = 1, 9 do
        if not (row[digit] or column[digit] or square[digit]) then count = count + 1 end
      end
      if count < fewest then best, fewest = cell, count end
    end
  end
  return best
end

local function solve(board)
  local cell = narrowest(board)
  if not cell then return true end
  local row, column, square = board.rows[cell.row], board.columns[cell.column], board.boxes[cell.box]
  for digit = 1, 9 do
    if not (row[digit] or column[digit] or square[digit]) then
      board.steps = board.steps + 1
      row[digit], column[digit], square[digit], cell.digit = true, true, true, digit
      if solve(board) then return true end
      row[digit], column[digit], square[digit], cell.digit = false, false, false, 0
    end
  end
  return false
end

local sum = 0
for i = 1, n do
  local board = read(PUZZLE, i)
  assert(solve(board))
  for at, cell in ipairs(board.cells) do sum = (sum * 10 + cell.digit + at) % 999983 end
  sum = sum + board.steps
end
print("sudoku " .. n .. " " .. string.format("%d", sum))
assert(n ~= 8 or sum == 762203)
