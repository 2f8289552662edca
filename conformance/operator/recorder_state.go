package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// operatorCluster is the cluster in memory that an operator works on. The HyperConverged lies in it as etcd has it
// (stored, with the schema's version) and, read by the API server, as an object of the fake client.
type operatorCluster struct {
	request   *request
	namespace string
	given     []map[string]any // before the operator comes
	older     []map[string]any // what another release left

	scheme *runtime.Scheme
	plain  client.WithWatch // without the recorder in between
	front  client.WithWatch
	stored map[string]any
	asked  map[string]bool   // kinds that the operator has looked for in this reconcile
	known  map[identity]bool // what to look for; true for what the operator made
}

type identity struct {
	gvk schema.GroupVersionKind
	key client.ObjectKey
}

func newOperatorCluster(q *request) (*operatorCluster, error) {
	i, err := readInventory(q.Inventory)
	if err != nil {
		return nil, err
	}
	c := &operatorCluster{request: q, namespace: i.Spec.Namespace, known: map[identity]bool{}, asked: map[string]bool{}}
	if c.given, err = i.clusterObjects(q.Nodes); err != nil {
		return nil, err
	}
	if q.State == "" {
		return c, nil
	}
	text, err := os.ReadFile(q.State)
	if err != nil {
		return nil, err
	}
	var before state
	if err := json.Unmarshal(text, &before); err != nil {
		return nil, err
	}
	c.stored = before.Stored
	for _, object := range before.Objects {
		if object["kind"] != "HyperConverged" {
			c.older = append(c.older, object)
		}
	}
	return c, nil
}

// client makes the one client of the process; the operator asks for it twice, with the same kinds.
func (c *operatorCluster) client(scheme *runtime.Scheme) (client.Client, error) {
	if c.front != nil {
		return c.front, nil
	}
	c.scheme = scheme
	objects := append(append([]map[string]any{}, c.given...), c.older...)
	all, err := typed(scheme, objects)
	if err != nil {
		return nil, err
	}
	builder := newFake(scheme)
	for _, o := range all {
		o.SetResourceVersion("")
		builder = builder.WithObjects(o)
	}
	for gvk := range scheme.AllKnownTypes() {
		if gvk.Kind == "HyperConverged" || gvk.Kind == "Deployment" || (gvk.Kind == "Ingress" && gvk.Group == "config.openshift.io") {
			o, err := scheme.New(gvk)
			if err != nil {
				return nil, err
			}
			builder = builder.WithStatusSubresource(o.(client.Object))
		}
	}
	c.plain = builder.Build()
	for _, object := range c.older {
		u := &unstructured.Unstructured{Object: object}
		c.known[identity{u.GroupVersionKind(), client.ObjectKeyFromObject(u)}] = true
	}
	if c.stored != nil {
		if err := c.show(context.Background()); err != nil {
			return nil, err
		}
	}
	c.front = interceptor.NewClient(c.plain, interceptor.Funcs{
		Get: func(ctx context.Context, plain client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if gvk, err := apiutil.GVKForObject(obj, scheme); err == nil {
				c.asked[gvk.Kind] = true
			}
			return plain.Get(ctx, key, obj, opts...)
		},
		Create: func(ctx context.Context, plain client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			if err := plain.Create(ctx, obj, opts...); err != nil {
				return err
			}
			gvk, err := apiutil.GVKForObject(obj, scheme)
			c.known[identity{gvk, client.ObjectKeyFromObject(obj)}] = true
			return err
		},
		Update: func(ctx context.Context, plain client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			gvk, err := apiutil.GVKForObject(obj, scheme)
			if err != nil {
				return err
			}
			if isHyperConverged(gvk) {
				return c.update(ctx, gvk, obj, false)
			}
			return plain.Update(ctx, obj, opts...)
		},
		Patch: func(ctx context.Context, plain client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			gvk, err := apiutil.GVKForObject(obj, scheme)
			if err != nil {
				return err
			}
			if isHyperConverged(gvk) {
				return errors.New("recorder: the operator patches the HyperConverged, which isn't emulated")
			}
			return plain.Patch(ctx, obj, patch, opts...)
		},
		SubResourceUpdate: func(ctx context.Context, plain client.Client, sub string, obj client.Object, opts ...client.SubResourceUpdateOption) error {
			gvk, err := apiutil.GVKForObject(obj, scheme)
			if err != nil {
				return err
			}
			if isHyperConverged(gvk) {
				return c.update(ctx, gvk, obj, true)
			}
			return plain.SubResource(sub).Update(ctx, obj, opts...)
		},
	})
	return c.front, nil
}

// asker is the client of an update, and its method.
type asker struct {
	Manager       string
	Apply, Status bool
}

const (
	operatorManager = "hyperconverged-cluster-operator"
	webhookManager  = "hyperconverged-cluster-webhook"
)

// submit sends a manifest to the API server, as kubectl would.
func (c *operatorCluster) submit(ctx context.Context, manifest string, by asker) (*verdict, error) {
	v, err := c.admit(ctx, manifest, by)
	if err != nil {
		return nil, err
	}
	if v.Accepted {
		c.stored = v.Stored
		err = c.show(ctx)
	}
	return v, err
}

func (c *operatorCluster) admit(ctx context.Context, manifest string, by asker) (*verdict, error) {
	if !by.Status {
		objects, err := c.dump(ctx, false)
		if err != nil {
			return nil, err
		}
		if err := ask(c.request.Webhook, "/state", append(append([]map[string]any{}, c.given...), objects...), nil); err != nil {
			return nil, err
		}
	}
	v := &verdict{}
	return v, ask(c.request.APIServer, "/admit", map[string]any{
		"manifest": manifest, "old": c.stored, "webhook": c.request.Webhook, "namespace": c.namespace,
		"status": by.Status, "apply": by.Apply, "manager": by.Manager,
	}, v)
}

// show puts what etcd has into the fake client, read as the API server reads it.
func (c *operatorCluster) show(ctx context.Context) error {
	read, err := c.read("")
	if err != nil {
		return err
	}
	gvk := (&unstructured.Unstructured{Object: read}).GroupVersionKind()
	if !c.scheme.Recognizes(gvk) {
		return fmt.Errorf("the operator doesn't know %s, which etcd has", gvk)
	}
	o, err := toTyped(c.scheme, gvk, read)
	if err != nil {
		return err
	}
	current, err := toTyped(c.scheme, gvk, map[string]any{"apiVersion": gvk.GroupVersion().String(), "kind": gvk.Kind})
	if err != nil {
		return err
	}
	err = c.plain.Get(ctx, client.ObjectKeyFromObject(o), current)
	if apierrors.IsNotFound(err) {
		o.SetResourceVersion("")
		if err := c.plain.Create(ctx, o.DeepCopyObject().(client.Object)); err != nil {
			return err
		}
		err = c.plain.Get(ctx, client.ObjectKeyFromObject(o), current)
	}
	if err != nil {
		return err
	}
	o.SetResourceVersion(current.GetResourceVersion())
	if err := c.plain.Update(ctx, o.DeepCopyObject().(client.Object)); err != nil {
		return err
	}
	if err := c.plain.Get(ctx, client.ObjectKeyFromObject(o), current); err != nil {
		return err
	}
	o.SetResourceVersion(current.GetResourceVersion())
	return c.plain.Status().Update(ctx, o)
}

// update is the operator's own update of the HyperConverged, which passes admission like any other, or of its status.
func (c *operatorCluster) update(ctx context.Context, gvk schema.GroupVersionKind, obj client.Object, status bool) error {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return err
	}
	object["apiVersion"], object["kind"] = gvk.GroupVersion().String(), gvk.Kind
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	v, err := c.admit(ctx, string(text), asker{Manager: operatorManager, Status: status})
	if err != nil {
		return err
	}
	return c.take(ctx, v, obj)
}

// storeAgain writes an object of another version back into etcd in the storage version, as the webhook's pod does at start.
// The API server may reject it.
func (c *operatorCluster) storeAgain(ctx context.Context) error {
	if c.stored == nil {
		return nil
	}
	read, err := c.read("")
	if err != nil || read["apiVersion"] == c.stored["apiVersion"] {
		return err
	}
	text, err := json.Marshal(read)
	if err != nil {
		return err
	}
	_, err = c.submit(ctx, string(text), asker{Manager: webhookManager})
	return err
}

// take stores the object that the API server accepted, or returns its rejection; obj becomes the answer.
func (c *operatorCluster) take(ctx context.Context, v *verdict, obj client.Object) error {
	if !v.Accepted {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: 403, Reason: metav1.StatusReasonForbidden,
			Message: fmt.Sprintf("refused in stage %s: %s", v.Stage, v.Message),
		}}
	}
	c.stored = v.Stored
	if err := c.show(ctx); err != nil {
		return err
	}
	return c.plain.Get(ctx, client.ObjectKeyFromObject(obj), obj)
}

// deploymentsReady does what the cluster's controllers would: replicas come up.
func (c *operatorCluster) deploymentsReady(ctx context.Context) error {
	for id := range c.known {
		if id.gvk.Kind != "Deployment" {
			continue
		}
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(id.gvk)
		if err := c.plain.Get(ctx, id.key, u); err != nil {
			continue
		}
		replicas, found, _ := unstructured.NestedInt64(u.Object, "spec", "replicas")
		if !found {
			replicas = 1
		}
		status := map[string]any{
			"observedGeneration": u.GetGeneration(), "replicas": replicas, "readyReplicas": replicas, "updatedReplicas": replicas, "availableReplicas": replicas,
			"conditions": []any{map[string]any{"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}},
		}
		if ready, _, _ := unstructured.NestedInt64(u.Object, "status", "readyReplicas"); ready == replicas {
			continue
		}
		if err := unstructured.SetNestedField(u.Object, status, "status"); err != nil {
			return err
		}
		if err := c.plain.Status().Update(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

// dump lists what the operator made, and the HyperConverged, by kind and name; without what only a server sets if bare.
func (c *operatorCluster) dump(ctx context.Context, bare bool) ([]map[string]any, error) {
	ids := []identity{}
	for id := range c.known {
		ids = append(ids, id)
	}
	if c.stored != nil {
		u := &unstructured.Unstructured{Object: c.stored}
		ids = append(ids, identity{u.GroupVersionKind(), client.ObjectKeyFromObject(u)})
	}
	sort.Slice(ids, func(a, b int) bool { return ids[a].text() < ids[b].text() })
	objects := []map[string]any{}
	for _, id := range ids {
		// Alerts and monitors are the operator's own; it deletes and creates some of them in turns.
		if bare && id.gvk.Group == "monitoring.coreos.com" {
			continue
		}
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(id.gvk)
		err := c.plain.Get(ctx, id.key, u)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if bare {
			u.SetResourceVersion("")
			u.SetUID("")
			u.SetManagedFields(nil)
			u.SetGeneration(0)
			unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
			unstructured.RemoveNestedField(u.Object, "status", "relatedObjects") // names resource versions
		}
		objects = append(objects, u.Object)
	}
	return objects, nil
}

func (id identity) text() string {
	return strings.Join([]string{id.gvk.Group, id.gvk.Version, id.gvk.Kind, id.key.Namespace, id.key.Name}, "\x00")
}

// name is the HyperConverged's: the schema's pattern isn't anchored, so that others get in.
func (c *operatorCluster) name() client.ObjectKey {
	return client.ObjectKeyFromObject(&unstructured.Unstructured{Object: c.stored})
}

func (c *operatorCluster) nodeNames() []string {
	names := []string{}
	for _, object := range c.given {
		if object["kind"] == "Node" {
			names = append(names, (&unstructured.Unstructured{Object: object}).GetName())
		}
	}
	return names
}
