package main

import (
	"encoding/json"
	"maps"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// listErrors names the later one of equal elements in lists of type set, and of equal keys in lists of type map. The
// library that the API server uses for it isn't vendored beside the others.
func listErrors(at *field.Path, s *structuralschema.Structural, value any) field.ErrorList {
	if s == nil {
		return nil
	}
	var errors field.ErrorList
	switch value := value.(type) {
	case map[string]any:
		for _, name := range sortedKeys(value) {
			if property, ok := s.Properties[name]; ok {
				errors = append(errors, listErrors(at.Child(name), &property, value[name])...)
			} else if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
				errors = append(errors, listErrors(at.Key(name), s.AdditionalProperties.Structural, value[name])...)
			}
		}
	case []any:
		errors = append(errors, duplicates(at, s, value)...)
		for i := range value {
			errors = append(errors, listErrors(at.Index(i), s.Items, value[i])...)
		}
	}
	return errors
}

func duplicates(at *field.Path, s *structuralschema.Structural, list []any) field.ErrorList {
	if s.XListType == nil {
		return nil
	}
	var errors field.ErrorList
	seen := map[string]bool{}
	reported := map[string]bool{}
	for i, element := range list {
		var identity any
		switch *s.XListType {
		case "set":
			identity = element
		case "map":
			identity = keysOf(s, element)
		default:
			return nil
		}
		text, err := json.Marshal(identity)
		if err != nil {
			continue
		}
		if seen[string(text)] && !reported[string(text)] {
			errors = append(errors, field.Duplicate(at.Index(i), identity))
			reported[string(text)] = true
		}
		seen[string(text)] = true
	}
	return errors
}

func keysOf(s *structuralschema.Structural, element any) map[string]any {
	object, _ := element.(map[string]any)
	keys := map[string]any{}
	for _, key := range s.XListMapKeys {
		if value, ok := object[key]; ok {
			keys[key] = value
		} else if s.Items != nil {
			if property, ok := s.Items.Properties[key]; ok && property.Default.Object != nil {
				keys[key] = property.Default.Object
			}
		}
	}
	return keys
}

func sortedKeys(m map[string]any) []string {
	return slices.Sorted(maps.Keys(m))
}
