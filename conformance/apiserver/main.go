// Command apiserver is the API server's part of a recording: what happens to a custom resource between `kubectl` and
// etcd. It is compiled where the apiextensions libraries are vendored, and answers on a Unix socket, so that the
// operators' processes can have their own updates admitted by it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
)

func main() {
	socket := flag.String("socket", "", "the Unix socket to listen on")
	crds := flag.String("crds", "", "CustomResourceDefinitions to serve, separated by commas")
	webhooks := flag.String("webhooks", "", "manifests with the webhooks' configurations, separated by commas")
	flag.Parse()

	served, err := loadResources(strings.Split(*crds, ","))
	if err != nil {
		log.Fatal(err)
	}
	hooks, err := loadWebhooks(strings.Split(*webhooks, ","))
	if err != nil {
		log.Fatal(err)
	}
	s := &server{resources: served, hooks: hooks}

	listener, err := net.Listen("unix", *socket)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/admit", handle(s.admit))
	mux.HandleFunc("/convert", handle(s.convert))
	fmt.Println("ready")
	go func() {
		// The recorder holds the other end of stdin: when it ends, so does this process.
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}()
	log.Fatal(http.Serve(listener, mux))
}

// handle answers a JSON request with JSON; an error of the recorder itself is status 500, never a verdict.
func handle[Q, A any](answer func(Q) (A, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var q Q
		d := json.NewDecoder(r.Body)
		d.UseNumber()
		if err := d.Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		a, err := answer(q)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(a)
	}
}
