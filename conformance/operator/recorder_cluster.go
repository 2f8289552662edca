package main

import (
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// inventory is the part of a ClusterInventory that decides what the operators find in a cluster.
type inventory struct {
	Spec struct {
		Platform                     string         `json:"platform"`
		Namespace                    string         `json:"namespace"`
		BaseDomain                   string         `json:"baseDomain"`
		DataImportSchedule           string         `json:"dataImportSchedule"`
		IPFamilies                   []string       `json:"ipFamilies"`
		HostedControlPlane           bool           `json:"hostedControlPlane"`
		Monitoring                   *bool          `json:"monitoring"`
		NetworkAttachmentDefinitions *bool          `json:"networkAttachmentDefinitions"`
		KubeDescheduler              bool           `json:"kubeDescheduler"`
		TLSSecurityProfile           map[string]any `json:"tlsSecurityProfile"`
	} `json:"spec"`
}

func readInventory(file string) (*inventory, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	i := &inventory{}
	if err := yaml.Unmarshal(text, i); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if i.Spec.Namespace == "" {
		i.Spec.Namespace = "kubevirt-hyperconverged"
	}
	if i.Spec.BaseDomain == "" {
		i.Spec.BaseDomain = "example.com"
	}
	return i, nil
}

func (i *inventory) openShift() bool { return i.Spec.Platform != "Kubernetes" }

// clusterObjects are the objects of the cluster before HCO is installed: its nodes, and those that the operators read their platform from.
func (i *inventory) clusterObjects(nodesFile string) ([]map[string]any, error) {
	text, err := os.ReadFile(nodesFile)
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []map[string]any `json:"items"`
	}
	if err := yaml.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", nodesFile, err)
	}
	objects := append([]map[string]any{}, list.Items...)
	add := func(apiVersion, kind, name string, rest map[string]any) {
		object := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}
		for k, v := range rest {
			object[k] = v
		}
		objects = append(objects, object)
	}
	crd := func(plural, group string) {
		add("apiextensions.k8s.io/v1", "CustomResourceDefinition", plural+"."+group, nil)
	}

	add("v1", "Namespace", i.Spec.Namespace, map[string]any{"metadata": map[string]any{
		"name": i.Spec.Namespace, "labels": map[string]any{"kubernetes.io/metadata.name": i.Spec.Namespace},
	}})
	crd("hyperconvergeds", "hco.kubevirt.io")
	add("apps/v1", "Deployment", "hyperconverged-cluster-operator", map[string]any{"metadata": map[string]any{
		"name": "hyperconverged-cluster-operator", "namespace": i.Spec.Namespace, "uid": "recorder",
	}})
	if enabled(i.Spec.Monitoring, i.openShift()) {
		crd("prometheusrules", "monitoring.coreos.com")
		crd("servicemonitors", "monitoring.coreos.com")
	}
	if enabled(i.Spec.NetworkAttachmentDefinitions, i.openShift()) {
		crd("network-attachment-definitions", "k8s.cni.cncf.io")
	}
	if i.Spec.KubeDescheduler {
		crd("kubedeschedulers", "operator.openshift.io")
	}
	if !i.openShift() {
		return objects, nil
	}
	i.openShiftObjects(add)
	return objects, nil
}

func (i *inventory) openShiftObjects(add func(apiVersion, kind, name string, rest map[string]any)) {
	const config = "config.openshift.io/v1"
	add(config, "ClusterVersion", "version", map[string]any{"status": map[string]any{"desired": map[string]any{"version": "4.20.0"}}})
	infrastructure := map[string]any{"status": map[string]any{
		"platformStatus":         map[string]any{"type": "BareMetal"},
		"controlPlaneTopology":   "HighlyAvailable",
		"infrastructureTopology": "HighlyAvailable",
	}}
	if i.Spec.HostedControlPlane {
		infrastructure["metadata"] = map[string]any{"name": "cluster", "labels": map[string]any{"hypershift.openshift.io/managed": "true"}}
		infrastructure["status"].(map[string]any)["controlPlaneTopology"] = "External"
	}
	add(config, "Infrastructure", "cluster", infrastructure)
	families := i.Spec.IPFamilies
	if len(families) == 0 {
		families = []string{"IPv4"}
	}
	networks := []any{}
	for _, family := range families {
		cidr := map[string]any{"cidr": "10.128.0.0/14", "hostPrefix": int64(23)}
		if family == "IPv6" {
			cidr = map[string]any{"cidr": "fd01::/48", "hostPrefix": int64(64)}
		}
		networks = append(networks, cidr)
	}
	add(config, "Network", "cluster", map[string]any{"status": map[string]any{"clusterNetwork": networks}})
	add(config, "DNS", "cluster", map[string]any{"spec": map[string]any{"baseDomain": i.Spec.BaseDomain}})
	add(config, "Ingress", "cluster", map[string]any{"spec": map[string]any{"domain": "apps." + i.Spec.BaseDomain}})
	apiServer := map[string]any{}
	if i.Spec.TLSSecurityProfile != nil {
		apiServer["tlsSecurityProfile"] = i.Spec.TLSSecurityProfile
	}
	add(config, "APIServer", "cluster", map[string]any{"spec": apiServer})
}

func enabled(declared *bool, otherwise bool) bool {
	if declared != nil {
		return *declared
	}
	return otherwise
}

// typed decodes objects of known kinds into Go types, as a client decodes a server's answer.
func typed(scheme *runtime.Scheme, objects []map[string]any) ([]client.Object, error) {
	known := []client.Object{}
	for _, object := range objects {
		u := &unstructured.Unstructured{Object: object}
		if !scheme.Recognizes(u.GroupVersionKind()) {
			continue
		}
		o, err := toTyped(scheme, u.GroupVersionKind(), object)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", u.GetKind(), u.GetName(), err)
		}
		known = append(known, o)
	}
	return known, nil
}

func toTyped(scheme *runtime.Scheme, gvk schema.GroupVersionKind, object map[string]any) (client.Object, error) {
	made, err := scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	o, ok := made.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%s isn't an object", gvk)
	}
	return o, decodeInto(object, o)
}

// decodeInto reads as client-go does: names of fields in their exact case.
func decodeInto(object map[string]any, into any) error {
	text, err := (&unstructured.Unstructured{Object: object}).MarshalJSON()
	if err != nil {
		return err
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(text, into)
}

// isHyperConverged says whether a client asks for the resource that the recording is about.
func isHyperConverged(gvk schema.GroupVersionKind) bool {
	return gvk.Group == "hco.kubevirt.io" && strings.TrimSuffix(gvk.Kind, "List") == "HyperConverged"
}

// newFake starts a cluster in memory without managed fields: the tables for them take half of a case's time, and a
// recording doesn't have them.
func newFake(scheme *runtime.Scheme) *fake.ClientBuilder {
	decoder := serializer.NewCodecFactory(scheme).UniversalDecoder()
	return fake.NewClientBuilder().WithScheme(scheme).WithObjectTracker(testing.NewObjectTracker(scheme, decoder))
}
