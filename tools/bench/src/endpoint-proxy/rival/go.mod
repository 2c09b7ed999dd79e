module evenkeel/bench/endpoint-proxy-rival

go 1.24
