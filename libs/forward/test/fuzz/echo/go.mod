module evenkeel/forward/fuzz-echo

go 1.24
