package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// replace keeps a manifest as it is. apply turns it into what client-side `kubectl apply` sends: the three-way merge of
// what was applied last, the manifest, and the live object in the manifest's version.
func (c *operatorCluster) apply(manifest string) (string, error) {
	modified, err := readManifest(manifest)
	if err != nil {
		return "", err
	}
	if err := annotate(modified); err != nil {
		return "", err
	}
	if c.stored == nil {
		text, err := json.Marshal(modified)
		return string(text), err
	}
	apiVersion, _ := modified["apiVersion"].(string)
	live, err := c.read(apiVersion)
	if err != nil {
		return "", err
	}
	original := map[string]any{}
	if metadata, ok := live["metadata"].(map[string]any); ok {
		if annotations, ok := metadata["annotations"].(map[string]any); ok {
			if text, ok := annotations[lastApplied].(string); ok {
				if err := utiljson.Unmarshal([]byte(text), &original); err != nil {
					return "", err
				}
			}
		}
	}
	text, err := json.Marshal(merge(original, modified, live))
	return string(text), err
}

// merge is a three-way JSON merge patch: it removes what was applied before and isn't now, sets what is applied, and keeps
// the rest of the live object.
func merge(original, modified, live map[string]any) map[string]any {
	merged := map[string]any{}
	for name, value := range live {
		_, before := original[name]
		_, now := modified[name]
		if !before || now {
			merged[name] = value
		}
	}
	for name, value := range modified {
		inner, isMap := value.(map[string]any)
		current, hasMap := live[name].(map[string]any)
		switch {
		case value == nil:
			delete(merged, name)
		case isMap && hasMap:
			before, _ := original[name].(map[string]any)
			merged[name] = merge(before, inner, current)
		default:
			merged[name] = value
		}
	}
	return merged
}

// annotate writes the manifest into its own annotation, as kubectl does.
func annotate(manifest map[string]any) error {
	metadata, ok := manifest["metadata"].(map[string]any)
	if !ok {
		return fmt.Errorf("a manifest without metadata can't be applied")
	}
	annotations, ok := metadata["annotations"].(map[string]any)
	if !ok {
		annotations = map[string]any{}
		metadata["annotations"] = annotations
	}
	delete(annotations, lastApplied)
	text, err := json.Marshal(manifest)
	if err != nil {
		return err
	}
	annotations[lastApplied] = string(text) + "\n"
	return nil
}

// read is the live object as a client of a version sees it; "" for the version that etcd has.
func (c *operatorCluster) read(apiVersion string) (map[string]any, error) {
	_, version, _ := strings.Cut(apiVersion, "/")
	object := map[string]any{}
	err := ask(c.request.APIServer, "/convert", map[string]any{"stored": c.stored, "webhook": c.request.Webhook, "version": version}, &object)
	return object, err
}

// put writes an object into etcd without admission, as an older release stored it. It keeps the status, finalizers and
// labels of the object that it replaces.
func (c *operatorCluster) put(ctx context.Context, manifest string) error {
	object, err := readManifest(manifest)
	if err != nil {
		return err
	}
	before := c.stored
	c.stored = object
	if c.stored, err = c.read(""); err != nil {
		return err
	}
	if before != nil {
		c.stored["status"] = before["status"]
		metadata, _ := c.stored["metadata"].(map[string]any)
		settled, _ := before["metadata"].(map[string]any)
		for _, name := range []string{"finalizers", "labels"} {
			if value, ok := settled[name]; ok && metadata[name] == nil {
				metadata[name] = value
			}
		}
	}
	// What the operator can't decode it doesn't read: it goes on with what it read last.
	_ = c.show(ctx)
	return nil
}

func readManifest(manifest string) (map[string]any, error) {
	text, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		return nil, err
	}
	object := map[string]any{}
	return object, utiljson.Unmarshal(text, &object)
}
