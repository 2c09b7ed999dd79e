// The program of each pod's sandbox on a real node.
module evenkeel.io/control-plane/pause

go 1.26.0
