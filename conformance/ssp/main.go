// Command recorder-ssp is SSP's part of a recording: its validating webhook and its data-sources stage, for the SSP that
// HCO wrote. It is compiled in SSP's own tree and answers a line of JSON for each line of JSON.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	sspv1beta3 "kubevirt.io/ssp-operator/api/v1beta3"
	"kubevirt.io/ssp-operator/internal/common"
	common_templates "kubevirt.io/ssp-operator/internal/operands/common-templates"
	data_sources "kubevirt.io/ssp-operator/internal/operands/data-sources"
	template_bundle "kubevirt.io/ssp-operator/internal/template-bundle"
	"kubevirt.io/ssp-operator/webhooks"
)

type question struct {
	Inventory string         `json:"inventory"`
	Nodes     string         `json:"nodes"`
	SSP       map[string]any `json:"ssp"`
}

type answer struct {
	Accepted bool             `json:"accepted"`
	Message  string           `json:"message"`
	Errors   []string         `json:"errors"`
	Objects  []map[string]any `json:"objects"`
}

func main() {
	templates, err := template_bundle.ReadTemplates(filepath.Join("data/common-templates-bundle", fmt.Sprintf("common-templates-%s.yaml", common_templates.Version)))
	if err != nil {
		panic(err)
	}
	collection, err := template_bundle.CollectDataSources(templates)
	if err != nil {
		panic(err)
	}
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var q question
		if err := json.Unmarshal(line, &q); err != nil {
			panic(err)
		}
		a, err := recordStage(&q, collection)
		if err != nil {
			panic(err)
		}
		text, err := json.Marshal(a)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
}

func recordStage(q *question, collection template_bundle.DataSourceCollection) (*answer, error) {
	i, err := readInventory(q.Inventory)
	if err != nil {
		return nil, err
	}
	objects, err := i.clusterObjects(q.Nodes)
	if err != nil {
		return nil, err
	}
	given, err := typed(common.Scheme, objects)
	if err != nil {
		return nil, err
	}
	a := &answer{Errors: []string{}, Objects: []map[string]any{}}
	if a.Accepted, a.Message, err = validate(newFake(common.Scheme).WithObjects(given...).Build(), q.SSP); err != nil {
		return nil, err
	}
	if !a.Accepted {
		a.Errors = append(a.Errors, "ssp admission (validating): "+a.Message)
		return a, nil
	}
	instance := &sspv1beta3.SSP{}
	if err := decodeInto(q.SSP, instance); err != nil {
		return nil, err
	}
	return a, a.run(instance, given, collection)
}

// validate asks the webhook as the API server does on a create.
func validate(c client.Client, ssp map[string]any) (bool, string, error) {
	m := &recorderManager{client: c, server: &recorderWebhookServer{mux: http.NewServeMux()}}
	if err := webhooks.Setup(m); err != nil {
		return false, "", err
	}
	text, err := json.Marshal(ssp)
	if err != nil {
		return false, "", err
	}
	u := &unstructured.Unstructured{Object: ssp}
	gvk := u.GroupVersionKind()
	review := admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{
		UID: "1", Kind: metav1.GroupVersionKind(gvk), Resource: metav1.GroupVersionResource{Group: gvk.Group, Version: gvk.Version, Resource: "ssps"},
		Name: u.GetName(), Namespace: u.GetNamespace(), Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: text},
	}}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	body, err := json.Marshal(review)
	if err != nil {
		return false, "", err
	}
	asked := httptest.NewRequest(http.MethodPost, "/validate-ssp-kubevirt-io-"+gvk.Version+"-ssp", bytes.NewReader(body))
	asked.Header.Set("Content-Type", "application/json")
	said := httptest.NewRecorder()
	m.server.mux.ServeHTTP(said, asked)
	var answered admissionv1.AdmissionReview
	if err := json.Unmarshal(said.Body.Bytes(), &answered); err != nil {
		return false, "", fmt.Errorf("%d %s: %w", said.Code, said.Body.String(), err)
	}
	message := ""
	if answered.Response.Result != nil {
		message = answered.Response.Result.Message
	}
	return answered.Response.Allowed, message, nil
}

type made struct {
	gvk schema.GroupVersionKind
	key client.ObjectKey
}

// run reconciles the stage until it creates nothing new.
func (a *answer) run(instance *sspv1beta3.SSP, given []client.Object, collection template_bundle.DataSourceCollection) error {
	created := map[made]bool{}
	instance.UID = "recorder"
	c := interceptor.NewClient(newFake(common.Scheme).WithObjects(append(slices.Clone(given), instance.DeepCopy())...).Build(), interceptor.Funcs{
		Create: func(ctx context.Context, plain client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			if err := plain.Create(ctx, obj, opts...); err != nil {
				return err
			}
			gvk, err := apiutil.GVKForObject(obj, common.Scheme)
			created[made{gvk, client.ObjectKeyFromObject(obj)}] = true
			return err
		},
	})
	ctx := context.Background()
	operand := data_sources.New(collection, true)
	for range 4 {
		a.Errors = []string{}
		request := &common.Request{
			Request: reconcile.Request{NamespacedName: client.ObjectKeyFromObject(instance)}, Client: c, UncachedReader: c, Context: ctx,
			Instance: instance.DeepCopy(), Logger: logr.Discard(), VersionCache: common.VersionCache{}, CrdList: allCRDs{},
		}
		if _, err := operand.Reconcile(request); err != nil {
			a.Errors = append(a.Errors, err.Error())
		}
	}
	for m := range created {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(m.gvk)
		if err := c.Get(ctx, m.key, u); err != nil {
			continue
		}
		a.Objects = append(a.Objects, u.Object)
	}
	sort.Slice(a.Objects, func(x, y int) bool { return text(a.Objects[x]) < text(a.Objects[y]) })
	return nil
}

func text(object map[string]any) string {
	u := &unstructured.Unstructured{Object: object}
	return u.GetKind() + "\x00" + u.GetNamespace() + "\x00" + u.GetName()
}

// allCRDs: everything that SSP looks for is there.
type allCRDs struct{}

func (allCRDs) CrdExists(string) bool { return true }
func (allCRDs) MissingCrds() []string { return nil }
