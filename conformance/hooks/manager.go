package manager

import "k8s.io/client-go/rest"

// RecorderNew makes every manager of the process; the recorder sets it before main runs.
var RecorderNew func(*rest.Config, Options) (Manager, error)

// New replaces the library's own, which the overlay renames.
func New(config *rest.Config, options Options) (Manager, error) {
	return RecorderNew(config, options)
}
