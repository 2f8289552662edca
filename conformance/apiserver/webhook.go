package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// webhook is one entry of a mutating or validating webhook configuration.
type webhook struct {
	path  string
	rules []admissionregistrationv1.RuleWithOperations
}

// webhooks are those of HyperConverged, in the order of the manifests.
type webhooks struct {
	mutating, validating []webhook
}

// loadWebhooks reads what the operator's manifests register; other documents of the files are passed over.
func loadWebhooks(files []string) (webhooks, error) {
	var all webhooks
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return all, err
		}
		documents := utilyaml.NewYAMLReader(newReader(text))
		for {
			document, err := documents.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				return all, fmt.Errorf("%s: %w", file, err)
			}
			if err := all.add(document); err != nil {
				return all, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	return all, nil
}

func (all *webhooks) add(document []byte) error {
	var typed metav1.TypeMeta
	if err := yaml.Unmarshal(document, &typed); err != nil {
		return err
	}
	switch typed.Kind {
	case "MutatingWebhookConfiguration":
		var c admissionregistrationv1.MutatingWebhookConfiguration
		if err := yaml.Unmarshal(document, &c); err != nil {
			return err
		}
		for _, w := range c.Webhooks {
			all.mutating = append(all.mutating, webhook{pathOf(w.ClientConfig), w.Rules})
		}
	case "ValidatingWebhookConfiguration":
		var c admissionregistrationv1.ValidatingWebhookConfiguration
		if err := yaml.Unmarshal(document, &c); err != nil {
			return err
		}
		for _, w := range c.Webhooks {
			all.validating = append(all.validating, webhook{pathOf(w.ClientConfig), w.Rules})
		}
	}
	return nil
}

func pathOf(c admissionregistrationv1.WebhookClientConfig) string {
	if c.Service == nil || c.Service.Path == nil {
		return ""
	}
	return *c.Service.Path
}

// matches is matchPolicy Exact, which the operator's webhooks have wherever a kind has more than one version.
func (w *webhook) matches(r *resource, version string, operation admissionv1.Operation) bool {
	for _, rule := range w.rules {
		if slices.Contains(rule.APIGroups, r.group) && slices.Contains(rule.APIVersions, version) && slices.Contains(rule.Resources, r.plural) &&
			slices.Contains(rule.Operations, admissionregistrationv1.OperationType(operation)) {
			return true
		}
	}
	return false
}

// review asks one webhook, over the socket that its process listens on.
func review(socket, path string, r *resource, version string, operation admissionv1.Operation, object, old map[string]any) (*admissionv1.AdmissionResponse, error) {
	name, namespace := nameOf(object)
	kind := metav1.GroupVersionKind{Group: r.group, Version: version, Kind: r.kind}
	plural := metav1.GroupVersionResource{Group: r.group, Version: version, Resource: r.plural}
	request := &admissionv1.AdmissionRequest{
		UID: types.UID("00000000-0000-0000-0000-000000000001"), Kind: kind, Resource: plural, RequestKind: &kind, RequestResource: &plural,
		Name: name, Namespace: namespace, Operation: operation,
		Options: runtime.RawExtension{Raw: []byte(`{"apiVersion":"meta.k8s.io/v1","kind":"` + string(optionsKind(operation)) + `"}`)},
	}
	request.UserInfo.Username = "system:serviceaccount:" + namespace + ":recorder"
	var err error
	if request.Object.Raw, err = json.Marshal(object); err != nil {
		return nil, err
	}
	if old != nil {
		if request.OldObject.Raw, err = json.Marshal(old); err != nil {
			return nil, err
		}
	}
	asked := admissionv1.AdmissionReview{Request: request}
	asked.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	var answered admissionv1.AdmissionReview
	if err := post(socket, path, asked, &answered); err != nil {
		return nil, err
	}
	if answered.Response == nil {
		return nil, fmt.Errorf("%s: no response in the AdmissionReview", path)
	}
	return answered.Response, nil
}

func optionsKind(operation admissionv1.Operation) string {
	if operation == admissionv1.Create {
		return "CreateOptions"
	}
	return "UpdateOptions"
}

// applyPatch applies a mutating webhook's patch as the API server does, its error messages included.
func applyPatch(object map[string]any, patch []byte) (map[string]any, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	if len(operations) == 0 {
		return object, nil
	}
	patched, err := operations.Apply(text)
	if err != nil {
		return nil, err
	}
	return decode(patched)
}

func post(socket, path string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
		DisableKeepAlives: true,
	}}
	response, err := client.Post("http://webhook"+path, "application/json", bytes.NewReader(body))
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
	return json.Unmarshal(text, answer)
}
