package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	schemaobjectmeta "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	structuralpruning "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

type server struct {
	resources map[string]*resource
	hooks     webhooks
}

// admission is a request to create or update an object.
type admission struct {
	Manifest  string          `json:"manifest"`  // YAML or JSON, as the client sends it
	Old       json.RawMessage `json:"old"`       // what lies in etcd, for an update
	Webhook   string          `json:"webhook"`   // the socket of the webhook's process
	Namespace string          `json:"namespace"` // the operator's, which is kubectl's current one
	Status    bool            `json:"status"`    // an update of the status subresource
	Apply     bool            `json:"apply"`     // a server-side apply, forced
	Manager   string          `json:"manager"`   // who asks: what is changed belongs to it once something was applied
}

// verdict is the result. Stage is "", "schema", "cel", "mutating" or "validating".
type verdict struct {
	Accepted bool           `json:"accepted"`
	Stage    string         `json:"stage"`
	Message  string         `json:"message"`
	Warnings []string       `json:"warnings"`
	Object   map[string]any `json:"object"` // in the version submitted, with status
	Stored   map[string]any `json:"stored"` // in the version that etcd has
}

func refused(stage, message string, warnings []string) verdict {
	return verdict{Stage: stage, Message: message, Warnings: warnings}
}

// admit walks through the stages in the API server's order: decode, default, prune, metadata, mutating webhooks, default,
// the strategy's preparation, validation (metadata, schema, embedded metadata, list types, CEL), admission policy,
// validating webhooks, conversion.
func (s *server) admit(q admission) (verdict, error) {
	object, r, v, message, err := s.read(q)
	if err != nil || message != "" {
		return refused("schema", message, nil), err
	}
	version := versionOf(object)
	operation := admissionv1.Create
	var old map[string]any
	if len(q.Old) > 0 && string(q.Old) != "null" {
		operation = admissionv1.Update
		stored, err := decode(q.Old)
		if err != nil {
			return verdict{}, err
		}
		if old, err = s.readStored(r, stored, version, q.Webhook); err != nil {
			return verdict{}, err
		}
	}
	if q.Apply {
		if object, message, err = s.apply(q, r, object, old); err != nil || message != "" {
			return refused("schema", message, nil), err
		}
	}
	managed := takeManaged(object)
	warnings, message := normalize(object, v, q.Namespace)
	if message != "" {
		return refused("schema", message, warnings), nil
	}
	if !q.Apply {
		managed = managedOf(old)
	}
	if managed != nil && !q.Apply && !q.Status {
		if managed, err = s.track(q, r, object, old); err != nil {
			return verdict{}, err
		}
	}
	if old != nil {
		takeManaged(old)
		carryOver(object, old)
	}
	if q.Status {
		return s.admitStatus(q, r, v, object, old, managed)
	}
	if old != nil {
		// The golden recordings show webhooks an old object with the defaults of the version that is asked for.
		structuraldefaulting.Default(old, v.structural)
	}

	for i := range s.hooks.mutating {
		w := &s.hooks.mutating[i]
		if !w.matches(r, version, operation) {
			continue
		}
		response, err := review(q.Webhook, w.path, r, version, operation, object, old)
		if err != nil {
			return verdict{}, err
		}
		warnings = append(warnings, response.Warnings...)
		if !response.Allowed {
			return refused("mutating", messageOf(response), warnings), nil
		}
		if len(response.Patch) > 0 {
			patched, err := applyPatch(object, response.Patch)
			if err != nil {
				return refused("mutating", "Internal error occurred: "+err.Error(), warnings), nil
			}
			object = patched
			structuraldefaulting.Default(object, v.structural)
		}
	}

	prepare(object, old, v)
	if errors := v.validate(r, object, old); len(errors) > 0 {
		return refused(stageOf(errors), errors.ToAggregate().Error(), warnings), nil
	}
	if message := namespacePolicy(r, object, operation, q.Namespace); message != "" {
		return refused("validating", message, warnings), nil
	}
	for i := range s.hooks.validating {
		w := &s.hooks.validating[i]
		if !w.matches(r, version, operation) {
			continue
		}
		response, err := review(q.Webhook, w.path, r, version, operation, object, old)
		if err != nil {
			return verdict{}, err
		}
		warnings = append(warnings, response.Warnings...)
		if !response.Allowed {
			return refused("validating", messageOf(response), warnings), nil
		}
	}

	stored, err := s.convertTo(r, object, r.storage, q.Webhook)
	if err != nil {
		return verdict{}, err
	}
	putManaged(stored, managed)
	return verdict{Accepted: true, Warnings: warnings, Object: object, Stored: stored}, nil
}

// admitStatus is an update of the status alone: the rest stays as it is, and no webhook of the operator is asked.
func (s *server) admitStatus(q admission, r *resource, v *version, object, old map[string]any, managed any) (verdict, error) {
	updated := runtime.DeepCopyJSON(old)
	delete(updated, "status")
	if status, ok := object["status"]; ok {
		updated["status"] = status
	}
	if errors := v.validate(r, updated, old); len(errors) > 0 {
		return refused(stageOf(errors), errors.ToAggregate().Error(), nil), nil
	}
	stored, err := s.convertTo(r, updated, r.storage, q.Webhook)
	putManaged(stored, managed)
	return verdict{Accepted: true, Object: updated, Stored: stored}, err
}

// read parses a manifest and finds its resource; message is what kubectl says where there is none.
func (s *server) read(q admission) (object map[string]any, r *resource, v *version, message string, err error) {
	text, err := yaml.YAMLToJSON([]byte(q.Manifest))
	if err != nil {
		return nil, nil, nil, "", err
	}
	if object, err = decode(text); err != nil {
		return nil, nil, nil, "", err
	}
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	group, name, _ := strings.Cut(apiVersion, "/")
	if r = s.resources[group+"/"+kind]; r != nil {
		v = r.versions[name]
	}
	if v == nil {
		return nil, nil, nil, fmt.Sprintf("no matches for kind %q in version %q", kind, apiVersion), nil
	}
	return object, r, v, "", nil
}

// normalize is what decoding does to a request's body: default, prune, drop nulls, read the metadata. Fields that nobody
// knows are warned about, as kubectl asks for.
func normalize(object map[string]any, v *version, namespace string) (warnings []string, message string) {
	structuraldefaulting.Default(object, v.structural)
	meta, found, unknown, err := schemaobjectmeta.GetObjectMetaWithOptions(object, schemaobjectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, err.Error()
	}
	unknown = append(unknown, structuralpruning.PruneWithOptions(object, v.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	for _, path := range unknown {
		warnings = append(warnings, fmt.Sprintf("unknown field %q", path))
	}
	structuraldefaulting.PruneNonNullableNullsWithoutDefaults(object, v.structural)
	if err := schemaobjectmeta.Coerce(nil, object, v.structural, false, false); err != nil {
		return warnings, err.Error()
	}
	if !found || meta == nil {
		meta = &metav1.ObjectMeta{}
	}
	if meta.Namespace == "" {
		meta.Namespace = namespace
	}
	// What only the server sets isn't taken from a client.
	meta.ManagedFields, meta.SelfLink = nil, ""
	if err := schemaobjectmeta.SetObjectMeta(object, meta); err != nil {
		return warnings, err.Error()
	}
	if metadata, ok := object["metadata"].(map[string]any); ok && metadata["creationTimestamp"] == nil {
		delete(metadata, "creationTimestamp")
	}
	return warnings, ""
}

// readStored is an object of etcd as a client of another version sees it.
func (s *server) readStored(r *resource, stored map[string]any, version, webhook string) (map[string]any, error) {
	from := r.versions[versionOf(stored)]
	if from == nil {
		return nil, fmt.Errorf("version %s of %s isn't served", versionOf(stored), r.kind)
	}
	object := runtime.DeepCopyJSON(stored)
	if metadata, ok := object["metadata"].(map[string]any); ok && metadata["resourceVersion"] == nil {
		metadata["resourceVersion"] = "1" // no update is out of date here
	}
	structuraldefaulting.Default(object, from.structural)
	structuralpruning.Prune(object, from.structural, true)
	structuraldefaulting.PruneNonNullableNullsWithoutDefaults(object, from.structural)
	return s.convertTo(r, object, version, webhook)
}

// convertTo asks the conversion webhook and prunes what the other version doesn't have. The API server defaults what it reads
// from etcd before it converts it, in the version stored, and nothing afterwards.
func (s *server) convertTo(r *resource, object map[string]any, version, webhook string) (map[string]any, error) {
	if versionOf(object) == version {
		return runtime.DeepCopyJSON(object), nil
	}
	converted, err := askConversion(webhook, r, object, version)
	if err != nil {
		return nil, err
	}
	v := r.versions[version]
	structuralpruning.Prune(converted, v.structural, true)
	structuraldefaulting.PruneNonNullableNullsWithoutDefaults(converted, v.structural)
	return converted, nil
}

// carryOver keeps on an update what the server set when the object was created.
func carryOver(object, old map[string]any) {
	metadata, _ := object["metadata"].(map[string]any)
	before, _ := old["metadata"].(map[string]any)
	// A client can't change these; objects in memory lack the time.
	delete(metadata, "generation")
	delete(metadata, "creationTimestamp")
	for _, name := range []string{"uid", "creationTimestamp", "generation", "resourceVersion"} {
		if value, ok := before[name]; ok {
			metadata[name] = value
		}
	}
}

// prepare is the strategy's preparation: the server sets part of metadata, and status belongs to the status subresource.
func prepare(object, old map[string]any, v *version) {
	if metadata, ok := object["metadata"].(map[string]any); ok && old == nil {
		for _, name := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "generation"} {
			delete(metadata, name)
		}
	}
	if !v.status {
		return
	}
	if status, ok := old["status"]; ok && old != nil {
		object["status"] = runtime.DeepCopyJSONValue(status)
	} else {
		delete(object, "status")
	}
}

// validate collects errors in the strategy's order; CEL's come only where no other error makes them meaningless.
func (v *version) validate(r *resource, object, old map[string]any) field.ErrorList {
	var errors field.ErrorList
	now := &unstructured.Unstructured{Object: object}
	at := field.NewPath("metadata")
	if old == nil {
		errors = append(errors, apivalidation.ValidateObjectMetaAccessor(now, r.namespaced, apivalidation.NameIsDNSSubdomain, at)...)
		errors = append(errors, validation.ValidateCustomResource(nil, object, v.validator)...)
		errors = append(errors, schemaobjectmeta.Validate(nil, object, v.structural, false)...)
		errors = append(errors, listErrors(nil, v.structural, object)...)
		return append(errors, v.celErrors(errors, object, nil)...)
	}
	correlated := v.correlated(object, old)
	errors = append(errors, apivalidation.ValidateObjectMetaAccessorUpdate(now, &unstructured.Unstructured{Object: old}, at)...)
	errors = append(errors, validation.ValidateCustomResourceUpdate(nil, object, old, v.validator, validation.WithRatcheting(correlated))...)
	errors = append(errors, schemaobjectmeta.Validate(nil, object, v.structural, false)...)
	if len(listErrors(nil, v.structural, old)) == 0 {
		errors = append(errors, listErrors(nil, v.structural, object)...)
	}
	return append(errors, v.celErrors(errors, object, old)...)
}

func (v *version) celErrors(before field.ErrorList, object, old map[string]any) field.ErrorList {
	if v.cel == nil || blocks(before) {
		return nil
	}
	var options []cel.Option
	var oldObject any
	if old != nil {
		oldObject = old
		options = append(options, cel.WithRatcheting(v.correlated(object, old)))
	}
	errors, _ := v.cel.Validate(context.Background(), nil, v.structural, object, oldObject, celconfig.RuntimeCELCostBudget, options...)
	for _, e := range errors {
		e.Origin = originCEL
	}
	return errors
}

const originCEL = "cel"

// blocks returns whether an error of the schema prevents CEL.
func blocks(errors field.ErrorList) bool {
	for _, e := range errors {
		switch e.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooMany, field.ErrorTypeTooLong, field.ErrorTypeTypeInvalid:
			return true
		}
	}
	return false
}

func stageOf(errors field.ErrorList) string {
	for _, e := range errors {
		if e.Origin != originCEL {
			return "schema"
		}
	}
	return "cel"
}

// namespacePolicy emulates the ValidatingAdmissionPolicy that the operator installs.
func namespacePolicy(r *resource, object map[string]any, operation admissionv1.Operation, namespace string) string {
	_, in := nameOf(object)
	if r.kind != "HyperConverged" || operation != admissionv1.Create || in == namespace {
		return ""
	}
	const policy = "hyperconverged-namespace-policy"
	return fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s-binding' denied request: HyperConverged CR can only be created in the '%s' namespace.", policy, policy, namespace)
}

func messageOf(response *admissionv1.AdmissionResponse) string {
	if response.Result == nil {
		return ""
	}
	return response.Result.Message
}

func nameOf(object map[string]any) (name, namespace string) {
	u := unstructured.Unstructured{Object: object}
	return u.GetName(), u.GetNamespace()
}

func versionOf(object map[string]any) string {
	apiVersion, _ := object["apiVersion"].(string)
	_, version, _ := strings.Cut(apiVersion, "/")
	return version
}

// decode reads JSON as the API server does: whole numbers are int64.
func decode(text []byte) (map[string]any, error) {
	object := map[string]any{}
	if err := utiljson.Unmarshal(text, &object); err != nil {
		return nil, err
	}
	return object, nil
}

func newReader(text []byte) *bufio.Reader {
	return bufio.NewReader(bytes.NewReader(text))
}
