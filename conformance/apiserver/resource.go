package main

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/managedfields"
	apiversion "k8s.io/apimachinery/pkg/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"sigs.k8s.io/yaml"
)

// resource is a CustomResourceDefinition, ready to admit objects.
type resource struct {
	group, kind, plural string
	storage             string
	namespaced          bool
	versions            map[string]*version
	types               managedfields.TypeConverter
}

// version is one served version: its schema in the forms that the API server's stages take.
type version struct {
	structural *structuralschema.Structural
	validator  validation.SchemaValidator
	cel        *cel.Validator
	status     bool // has a status subresource
}

// loadResources reads CRDs, keyed by group and kind ("hco.kubevirt.io/HyperConverged").
func loadResources(files []string) (map[string]*resource, error) {
	served := map[string]*resource{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &crd); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		r, err := newResource(&crd)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		served[r.group+"/"+r.kind] = r
	}
	return served, nil
}

func newResource(crd *apiextensionsv1.CustomResourceDefinition) (*resource, error) {
	r := &resource{
		group:      crd.Spec.Group,
		kind:       crd.Spec.Names.Kind,
		plural:     crd.Spec.Names.Plural,
		namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
		versions:   map[string]*version{},
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		if v.Storage {
			r.storage = v.Name
		}
		if !v.Served {
			continue
		}
		var schema apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, &schema, nil); err != nil {
			return nil, err
		}
		structural, err := structuralschema.NewStructural(&schema)
		if err != nil {
			return nil, err
		}
		validator, _, err := validation.NewSchemaValidator(&schema)
		if err != nil {
			return nil, err
		}
		r.versions[v.Name] = &version{
			structural: structural,
			validator:  validator,
			cel:        cel.NewValidator(structural, true, celconfig.PerCallLimit),
			status:     v.Subresources != nil && v.Subresources.Status != nil,
		}
	}
	var err error
	r.types, err = typesOf(r)
	return r, err
}

// preferred is the version that discovery names first: the newest of those that are served.
func (r *resource) preferred() string {
	return slices.MaxFunc(slices.Collect(maps.Keys(r.versions)), apiversion.CompareKubeAwareVersionStrings)
}

// correlated pairs new and old for ratcheting, as the API server does on an update.
func (v *version) correlated(object, old map[string]any) *common.CorrelatedObject {
	return common.NewCorrelatedObject(object, old, &model.Structural{Structural: v.structural})
}
