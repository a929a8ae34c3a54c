//! Tile patterns to packed tables: flatten, close, pack, look up.
