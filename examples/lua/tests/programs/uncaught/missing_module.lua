package.path, package.cpath = "?.none", "?.none"
require("surely.missing")
