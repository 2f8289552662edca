package main

import (
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// conversion asks for an object of etcd in another version.
type conversion struct {
	Stored  json.RawMessage `json:"stored"`
	Version string          `json:"version"` // "" for the version that etcd has now, "preferred" for that which kubectl prints
	Webhook string          `json:"webhook"`
}

// convert reads an object of etcd as a client of the version named does.
func (s *server) convert(q conversion) (map[string]any, error) {
	stored, err := decode(q.Stored)
	if err != nil {
		return nil, err
	}
	for _, r := range s.resources {
		if stored["kind"] == r.kind {
			switch q.Version {
			case "":
				q.Version = r.storage
			case "preferred":
				q.Version = r.preferred()
			}
			return s.readStored(r, stored, q.Version, q.Webhook)
		}
	}
	return nil, fmt.Errorf("kind %v isn't served", stored["kind"])
}

func askConversion(webhook string, r *resource, object map[string]any, version string) (map[string]any, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	asked := apiextensionsv1.ConversionReview{Request: &apiextensionsv1.ConversionRequest{
		UID:               "00000000-0000-0000-0000-000000000002",
		DesiredAPIVersion: r.group + "/" + version,
		Objects:           []runtime.RawExtension{{Raw: text}},
	}}
	asked.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("ConversionReview"))
	var answered apiextensionsv1.ConversionReview
	if err := post(webhook, "/convert", asked, &answered); err != nil {
		return nil, err
	}
	if answered.Response == nil || answered.Response.Result.Status != metav1.StatusSuccess {
		return nil, fmt.Errorf("conversion to %s failed: %+v", version, answered.Response)
	}
	converted, err := decode(answered.Response.ConvertedObjects[0].Raw)
	if err != nil {
		return nil, err
	}
	// Of the metadata only labels and annotations may change in a conversion.
	metadata := runtime.DeepCopyJSONValue(object["metadata"]).(map[string]any)
	if changed, ok := converted["metadata"].(map[string]any); ok {
		for _, name := range []string{"labels", "annotations"} {
			if value, ok := changed[name]; ok {
				metadata[name] = value
			} else {
				delete(metadata, name)
			}
		}
	}
	converted["metadata"] = metadata
	return converted, nil
}
