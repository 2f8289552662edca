package main

import (
	"fmt"

	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	structuralpruning "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// objectMeta is the API server's definition of metadata, as far as merging needs it.
const objectMeta = `{"type": "object", "properties": {
	"name": {"type": "string"}, "generateName": {"type": "string"}, "namespace": {"type": "string"}, "selfLink": {"type": "string"},
	"uid": {"type": "string"}, "resourceVersion": {"type": "string"}, "generation": {"type": "integer"},
	"creationTimestamp": {"type": "string"}, "deletionTimestamp": {"type": "string"}, "deletionGracePeriodSeconds": {"type": "integer"},
	"labels": {"type": "object", "additionalProperties": {"type": "string"}},
	"annotations": {"type": "object", "additionalProperties": {"type": "string"}},
	"finalizers": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
	"managedFields": {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "atomic"},
	"ownerReferences": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["uid"], "items": {
		"type": "object", "x-kubernetes-map-type": "atomic", "properties": {
			"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "name": {"type": "string"}, "uid": {"type": "string"},
			"controller": {"type": "boolean"}, "blockOwnerDeletion": {"type": "boolean"}}}}}}`

// typesOf returns the types for structured merges, of all versions of a resource.
func typesOf(r *resource) (managedfields.TypeConverter, error) {
	meta := &spec.Schema{}
	if err := meta.UnmarshalJSON([]byte(objectMeta)); err != nil {
		return nil, err
	}
	models := map[string]*spec.Schema{}
	for name, v := range r.versions {
		model := v.structural.ToKubeOpenAPI()
		model.Properties["metadata"] = *meta
		model.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": r.group, "version": name, "kind": r.kind}})
		models[r.group+"."+name+"."+r.kind] = model
	}
	return managedfields.NewTypeConverter(models, false)
}

// fieldManager merges and keeps managed fields as the handler of a version does; the webhook converts.
func (s *server) fieldManager(r *resource, version, webhook string) (*managedfields.FieldManager, error) {
	c := converter{s, r, webhook}
	kind := schema.GroupVersionKind{Group: r.group, Version: version, Kind: r.kind}
	reset := map[fieldpath.APIVersion]fieldpath.Filter{
		fieldpath.APIVersion(kind.GroupVersion().String()): fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("status"))),
	}
	return managedfields.NewDefaultCRDFieldManager(r.types, c, c, c, kind, kind.GroupVersion(), "", reset)
}

// apply returns the live object after a server-side apply, empty if there is none; message is the error.
func (s *server) apply(q admission, r *resource, patch, live map[string]any) (applied map[string]any, message string, err error) {
	version := versionOf(patch)
	manager, err := s.fieldManager(r, version, q.Webhook)
	if err != nil {
		return nil, "", err
	}
	if metadata, ok := patch["metadata"].(map[string]any); ok && (metadata["namespace"] == nil || metadata["namespace"] == "") {
		metadata["namespace"] = q.Namespace
	}
	if live == nil {
		live = map[string]any{"apiVersion": patch["apiVersion"], "kind": patch["kind"]}
	}
	out, err := manager.Apply(wrapped(live), &unstructured.Unstructured{Object: patch}, q.Manager, true)
	if err != nil {
		return nil, err.Error(), nil
	}
	return out.(*unstructured.Unstructured).Object, "", nil
}

// track is the managed fields after an update: what it changes belongs to its manager.
func (s *server) track(q admission, r *resource, object, live map[string]any) (any, error) {
	manager, err := s.fieldManager(r, versionOf(object), q.Webhook)
	if err != nil {
		return nil, err
	}
	out, err := manager.Update(wrapped(live), wrapped(object), q.Manager)
	if err != nil {
		return nil, err
	}
	return managedOf(out.(*unstructured.Unstructured).Object), nil
}

func managedOf(object map[string]any) any {
	metadata, _ := object["metadata"].(map[string]any)
	return metadata["managedFields"]
}

func wrapped(object map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
}

// takeManaged takes the managed fields out: no webhook looks at them, and every step but this one goes without.
func takeManaged(object map[string]any) any {
	managed := managedOf(object)
	if metadata, ok := object["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
	}
	return managed
}

// putManaged puts them back, without the time.
func putManaged(object map[string]any, managed any) {
	entries, _ := managed.([]any)
	for _, entry := range entries {
		if entry, ok := entry.(map[string]any); ok {
			delete(entry, "time")
		}
	}
	if metadata, ok := object["metadata"].(map[string]any); ok && managed != nil {
		metadata["managedFields"] = managed
	}
}

// converter is the resource's converter, defaulter and creator.
type converter struct {
	s       *server
	r       *resource
	webhook string
}

func (c converter) Convert(_, _, _ any) error { return fmt.Errorf("recorder: not in place") }

func (c converter) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (c converter) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	version, ok := to.(schema.GroupVersion)
	v := c.r.versions[version.Version]
	if !ok || v == nil {
		return nil, fmt.Errorf("recorder: no version %v", to)
	}
	object, err := c.s.convertTo(c.r, in.(*unstructured.Unstructured).Object, version.Version, c.webhook)
	if err != nil {
		return nil, err
	}
	structuralpruning.Prune(object, v.structural, true)
	structuraldefaulting.PruneNonNullableNullsWithoutDefaults(object, v.structural)
	return &unstructured.Unstructured{Object: object}, nil
}

func (c converter) Default(in runtime.Object) {
	object := in.(*unstructured.Unstructured).Object
	structuraldefaulting.Default(object, c.r.versions[versionOf(object)].structural)
}

func (c converter) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u, nil
}
