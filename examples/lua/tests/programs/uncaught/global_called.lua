print "starts"
undefined_function(1, 2)
