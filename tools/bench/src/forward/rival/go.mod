module evenkeel/bench/forward-rival

go 1.24
