package main

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The Go types that manifests and operands go through, as main's scheme knows them: hcoplan's go-types.json.

// rootTypes are the kinds whose types are written, where the release has them.
var rootTypes = []string{
	"hco.kubevirt.io/v1beta1/HyperConverged",
	"hco.kubevirt.io/v1/HyperConverged",
	"kubevirt.io/v1/KubeVirt",
	"cdi.kubevirt.io/v1beta1/CDI",
	"cdi.kubevirt.io/v1beta1/DataImportCron",
	"cdi.kubevirt.io/v1beta1/DataSource",
	"networkaddonsoperator.network.kubevirt.io/v1/NetworkAddonsConfig",
	"ssp.kubevirt.io/v1beta3/SSP",
	"aaq.kubevirt.io/v1alpha1/AAQ",
	"migrations.kubevirt.io/v1alpha1/MigController",
	"filerestore.kubevirt.io/v1alpha1/FileRestoreOperator",
}

// packageTags distinguish types of one name. The first package keeps the name, another one's is `v1.X@tag`.
var packageTags = []struct{ prefix, tag string }{
	{"github.com/kubevirt/hyperconverged-cluster-operator/", "hco"},
	{"k8s.io/api/", "core"},
	{"github.com/openshift/api/", "openshift"},
	{"k8s.io/apimachinery/pkg/apis/meta/", "meta"},
	{"github.com/openshift/custom-resource-status/", "status"},
	{"kubevirt.io/api/", "kubevirt"},
	{"kubevirt.io/containerized-data-importer-api/", "cdi"},
	{"kubevirt.io/application-aware-quota/", "aaq"},
	{"kubevirt.io/kubevirt-migration-operator/", "migration"},
	{"kubevirt.io/vm-file-restore-operator/", "filerestore"},
}

// A domain's and a version's part of a package's path say nothing about it.
var noTag = regexp.MustCompile(`^(api|apis|pkg|v\d.*)$`)

// typesFile is go-types.json.
type typesFile struct {
	Roots   map[string]string       `json:"roots"`
	Names   map[string]string       `json:"names"`
	Structs map[string]structFields `json:"structs"`
}

// structFields are keys and types in the order of the Go struct, which is that of printed JSON.
type structFields [][2]string

func (fields structFields) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	for i, field := range fields {
		out.WriteByte("{,"[min(i, 1)])
		fmt.Fprintf(&out, "%q:%q", field[0], field[1])
	}
	if len(fields) == 0 {
		out.WriteByte('{')
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// describeTypes writes the types that are reachable from the roots.
func describeTypes(scheme *runtime.Scheme, file string) error {
	found := map[string][]reflect.Type{} // by their printed names
	roots := map[string]reflect.Type{}
	for _, root := range rootTypes {
		apiVersion, kind := path.Split(root)
		gv, err := schema.ParseGroupVersion(strings.TrimSuffix(apiVersion, "/"))
		if err != nil {
			return err
		}
		object, err := scheme.New(gv.WithKind(kind))
		if err != nil {
			continue // not in this release
		}
		roots[root] = reflect.TypeOf(object).Elem()
		collectTypes(roots[root], found)
	}
	d := describer{names: map[reflect.Type]string{}}
	for name, types := range found {
		slices.SortFunc(types, func(a, b reflect.Type) int {
			return cmp.Or(packageOrder(a)-packageOrder(b), strings.Compare(a.PkgPath(), b.PkgPath()))
		})
		for i, t := range types {
			d.names[t] = name
			if i > 0 {
				d.names[t] = name + "@" + packageTag(t)
			}
		}
	}
	out := typesFile{Roots: map[string]string{}, Names: map[string]string{}, Structs: map[string]structFields{}}
	for root, t := range roots {
		out.Roots[root] = d.names[t]
	}
	for t, name := range d.names {
		special := specialType(t)
		switch {
		case special != "":
			out.Names[name] = special
		case t.Kind() == reflect.Struct:
			fields, err := d.fields(t)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if other, taken := out.Structs[name]; taken && !reflect.DeepEqual(other, fields) {
				return fmt.Errorf("two types are called %s: a tag for %s is missing", name, t.PkgPath())
			}
			out.Structs[name] = fields
		default:
			out.Names[name] = d.underlying(t)
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}

// collectTypes gathers the named types below a type.
func collectTypes(t reflect.Type, found map[string][]reflect.Type) {
	if t.PkgPath() != "" {
		if slices.Contains(found[t.String()], t) {
			return
		}
		found[t.String()] = append(found[t.String()], t)
		if specialType(t) != "" {
			return
		}
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		collectTypes(t.Elem(), found)
	case reflect.Map:
		collectTypes(t.Key(), found)
		collectTypes(t.Elem(), found)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
				collectTypes(f.Type, found)
			}
		}
	}
}

func packageOrder(t reflect.Type) int {
	for i, p := range packageTags {
		if strings.HasPrefix(t.PkgPath()+"/", p.prefix) {
			return i
		}
	}
	return len(packageTags)
}

func packageTag(t reflect.Type) string {
	if i := packageOrder(t); i < len(packageTags) {
		return packageTags[i].tag
	}
	parts := strings.Split(t.PkgPath(), "/")[1:]
	for _, part := range parts {
		if !noTag.MatchString(part) {
			return part
		}
	}
	return "other"
}

// specialType names a type whose decoder isn't encoding/json's own for its shape.
func specialType(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		return "quantity"
	case reflect.TypeFor[metav1.Duration]():
		return "duration"
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return "time"
	case reflect.TypeFor[intstr.IntOrString]():
		return "intOrString"
	case reflect.TypeFor[metav1.FieldsV1](), reflect.TypeFor[runtime.RawExtension]():
		return "raw"
	}
	return ""
}

// describer knows what each type is called.
type describer struct {
	names map[reflect.Type]string
}

// expression writes a type in Go's syntax.
func (d describer) expression(t reflect.Type) string {
	if name := d.names[t]; name != "" {
		return name
	}
	return d.underlying(t)
}

func (d describer) underlying(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + d.expression(t.Elem())
	case reflect.Slice:
		return "[]" + d.expression(t.Elem())
	case reflect.Map:
		return "map[" + d.expression(t.Key()) + "]" + d.expression(t.Elem())
	}
	return t.Kind().String()
}

// fields describes a struct's fields: `?` for omitempty, `!` for omitzero, `=V` for what the type's own decoder puts in.
func (d describer) fields(t reflect.Type) (structFields, error) {
	defaults, err := decoderDefaults(t)
	if err != nil {
		return nil, err
	}
	var out structFields
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if tag == "-" || !f.IsExported() {
			continue
		}
		if f.Anonymous && name == "" {
			out = append(out, [2]string{"." + f.Name, d.expression(f.Type)})
			continue
		}
		if name == "" {
			name = f.Name
		}
		key := name
		for _, option := range strings.Split(options, ",") {
			switch option {
			case "omitempty":
				key += "?"
			case "omitzero":
				key += "!"
			}
		}
		if value, ok := defaults[name]; ok {
			key += "=" + value
		}
		out = append(out, [2]string{key, d.expression(f.Type)})
	}
	return out, nil
}

// decoderDefaults returns what a type with its own decoder decodes an empty value to.
func decoderDefaults(t reflect.Type) (map[string]string, error) {
	v := reflect.New(t)
	decoder, ok := v.Interface().(json.Unmarshaler)
	if !ok {
		if _, ok := v.Interface().(encoding.TextUnmarshaler); ok {
			return nil, fmt.Errorf("%s decodes text in its own way", t)
		}
		return nil, nil
	}
	if err := decoder.UnmarshalJSON([]byte("{}")); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for i := range t.NumField() {
		// Not what it encodes: an encoder of its own may leave the default out again.
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		value := reflect.Indirect(v.Elem().Field(i))
		if value.IsValid() && !value.IsZero() && value.Kind() == reflect.String {
			out[name] = value.String()
		}
	}
	return out, nil
}
