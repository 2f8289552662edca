package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
)

// ask posts JSON to a process of the recording, over its Unix socket.
func ask(socket, path string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	c := http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
		DisableKeepAlives: true,
	}}
	response, err := c.Post("http://recorder"+path, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", path, response.Status, text)
	}
	if answer == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	return d.Decode(answer)
}
