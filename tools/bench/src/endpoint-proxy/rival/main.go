// Command endpoint-proxy-rival is Go's httputil.ReverseProxy with TLS on both sides. It removes clients' headers that
// say who asks and sets the headers that endpoint-proxy sets. It authenticates nobody and writes no audit log.
// Arguments: the upstream's URL, and a folder with tls.crt (the upstream's authority too) and tls.key. It prints the
// port that it listens on.
package main

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte  { return *b.pool.Get().(*[]byte) }
func (b *buffers) Put(p []byte) { b.pool.Put(&p) }

func fail(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func auditID() string {
	var id [16]byte
	_, err := rand.Read(id[:])
	fail(err)
	return hex.EncodeToString(id[:])
}

func main() {
	upstream, err := url.Parse(os.Args[1])
	fail(err)
	crt, key := filepath.Join(os.Args[2], "tls.crt"), filepath.Join(os.Args[2], "tls.key")
	pair, err := tls.LoadX509KeyPair(crt, key)
	fail(err)
	pem, err := os.ReadFile(crt)
	fail(err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			header := r.Out.Header
			for name := range header {
				if strings.HasPrefix(name, "Impersonate-") || strings.HasPrefix(name, "X-Remote-") {
					header.Del(name)
				}
			}
			r.SetURL(upstream)
			r.SetXForwarded()
			header.Set("Forwarded", "for="+r.In.RemoteAddr+";host="+r.In.Host+";proto=https")
			header.Set("Via", "1.1 endpoint-proxy")
			header.Set("Authorization", "Bearer impersonator")
			header.Set("Impersonate-User", "alice")
			header["Impersonate-Group"] = []string{"developers", "system:authenticated"}
			header.Set("Audit-Id", auditID())
		},
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			TLSClientConfig:     &tls.Config{RootCAs: roots},
			MaxIdleConns:        1024,
			MaxIdleConnsPerHost: 1024,
			IdleConnTimeout:     30 * time.Second,
			DisableCompression:  true,
		},
		// wrk leaves in the middle of its last requests, which is no news.
		ErrorLog:   log.New(io.Discard, "", 0),
		BufferPool: &buffers{sync.Pool{New: func() any { p := make([]byte, 32<<10); return &p }}},
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert})
	fail(err)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	server := &http.Server{Handler: proxy, ErrorLog: log.New(io.Discard, "", 0)}
	fail(server.Serve(listener))
}
