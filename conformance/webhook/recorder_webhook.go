package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// The webhook's main runs as it is: its clients read a copy of the cluster that the operator's process sends, and its
// manager serves the handlers on a Unix socket.
func init() {
	i, err := readInventory(os.Getenv("RECORDER_INVENTORY"))
	if err != nil {
		panic(err)
	}
	objects, err := i.clusterObjects(os.Getenv("RECORDER_NODES"))
	if err != nil {
		panic(err)
	}
	c := &webhookCluster{objects: objects}
	client.RecorderNew = func(o client.Options) (client.Client, error) { return c.client(o.Scheme) }
	manager.RecorderNew = func(config *rest.Config, o manager.Options) (manager.Manager, error) {
		cl, err := c.client(o.Scheme)
		return &recorderManager{config: config, client: cl, server: &recorderWebhookServer{mux: http.NewServeMux()}, start: c.serve}, err
	}
}

// webhookCluster is the webhook's view of the cluster; current is replaced as a whole.
type webhookCluster struct {
	objects []map[string]any
	scheme  *runtime.Scheme
	current atomic.Pointer[client.WithWatch]
}

// client makes one that always reads the newest copy.
func (c *webhookCluster) client(scheme *runtime.Scheme) (client.Client, error) {
	c.scheme = scheme
	if err := c.replace(c.objects); err != nil {
		return nil, err
	}
	now := func() client.WithWatch { return *c.current.Load() }
	return interceptor.NewClient(now(), interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			return now().Get(ctx, key, obj, opts...)
		},
		List: func(ctx context.Context, _ client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			return now().List(ctx, list, opts...)
		},
		Create: func(ctx context.Context, _ client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			return now().Create(ctx, obj, opts...)
		},
		Update: func(ctx context.Context, _ client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			return now().Update(ctx, obj, opts...)
		},
		Delete: func(ctx context.Context, _ client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			return now().Delete(ctx, obj, opts...)
		},
		Patch: func(ctx context.Context, _ client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			return now().Patch(ctx, obj, patch, opts...)
		},
	}), nil
}

func (c *webhookCluster) replace(objects []map[string]any) error {
	known, err := typed(c.scheme, objects)
	if err != nil {
		return err
	}
	cl := newFake(c.scheme).WithObjects(known...).Build()
	c.current.Store(&cl)
	return nil
}

// serve answers admission and conversion reviews, and /state, until the recorder closes stdin.
func (c *webhookCluster) serve(_ context.Context, m *recorderManager) error {
	m.server.mux.HandleFunc("/state", func(w http.ResponseWriter, r *http.Request) {
		var objects []map[string]any
		err := json.NewDecoder(r.Body).Decode(&objects)
		if err == nil {
			err = c.replace(objects)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	listener, err := net.Listen("unix", os.Getenv("RECORDER_WEBHOOK"))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}()
	return http.Serve(listener, m.server.mux)
}
