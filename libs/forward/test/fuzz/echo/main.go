// Command fuzz-echo is an upstream on Go's net/http that records every request as it understood it. It serves requests
// on the first port that it prints. The second port returns what was recorded since the last call.
package main

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sort"
	"strings"
	"sync"
)

type seen struct {
	ID       string      `json:"id"`
	Method   string      `json:"method"`
	Path     string      `json:"path"`
	Host     string      `json:"host"`
	Headers  [][2]string `json:"headers"`
	Bytes    int         `json:"bytes"`
	Digest   string      `json:"digest"`
	Complete bool        `json:"complete"`
}

func main() {
	var lock sync.Mutex
	log.SetOutput(io.Discard)
	requests := []seen{}

	take := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		digest := sha1.Sum(body)
		request := seen{
			ID: r.Header.Get("x-fuzz-id"), Method: r.Method, Path: r.RequestURI, Host: r.Host, Headers: [][2]string{},
			Bytes: len(body), Digest: hex.EncodeToString(digest[:]), Complete: err == nil,
		}
		for name, values := range r.Header {
			for _, value := range values {
				request.Headers = append(request.Headers, [2]string{strings.ToLower(name), value})
			}
		}
		sort.Slice(request.Headers, func(a, b int) bool {
			return strings.Join(request.Headers[a][:], ":") < strings.Join(request.Headers[b][:], ":")
		})
		lock.Lock()
		requests = append(requests, request)
		lock.Unlock()
		w.Header().Set("x-upstream", "go")
		io.WriteString(w, "go\n")
	}
	tell := func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		json.NewEncoder(w).Encode(requests)
		requests = []seen{}
	}

	upstream, control := listen(), listen()
	fmt.Println(upstream.Addr().(*net.TCPAddr).Port, control.Addr().(*net.TCPAddr).Port)
	go http.Serve(control, http.HandlerFunc(tell))
	log.Fatal(http.Serve(upstream, http.HandlerFunc(take)))
}

func listen() net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	return listener
}
