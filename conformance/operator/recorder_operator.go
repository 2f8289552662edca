package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	controllerruntimemetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A recording runs the operator's main as it is. Its clients are of a cluster in memory, and where main would start its
// controllers, the recorder submits manifests and calls the reconcilers until nothing changes any more.

// request is what the recorder asks of this process.
type request struct {
	APIServer string `json:"apiServer"` // sockets
	Webhook   string `json:"webhook"`
	Inventory string `json:"inventory"` // files
	Nodes     string `json:"nodes"`
	State     string `json:"state"` // objects that an older release left, and the HyperConverged in etcd; or ""
	Answer    string `json:"answer"`
	Types     string `json:"types"` // where the types of main's scheme go, or ""
	Steps     []step `json:"steps"`
}

// step is a manifest that is submitted, and how: "replace" (a create or an update, as it is), "apply" (three-way merge),
// "server-side" (the API server merges it), or "put" (into etcd, without admission or reconcile). Without a manifest the operator only reconciles.
type step struct {
	Manifest string `json:"manifest"`
	How      string `json:"how"`
}

// answer has a result for each step.
type answer struct {
	Results []result `json:"results"`
	State   state    `json:"state"`
}

// state is what can be handed to a newer release.
type state struct {
	Objects []map[string]any `json:"objects"`
	Stored  map[string]any   `json:"stored"`
}

type result struct {
	Live           map[string]any   `json:"live"` // before the step, as kubectl prints it
	Verdict        *verdict         `json:"verdict"`
	HyperConverged map[string]any   `json:"hyperConverged"` // what etcd has at the end
	Asked          []string         `json:"asked"`          // kinds that the last reconcile looked for
	Error          string           `json:"error"`          // of the last reconcile
	Objects        []map[string]any `json:"objects"`
	Metrics        []map[string]any `json:"metrics"`
	Rounds         int              `json:"rounds"`
	Settled        bool             `json:"settled"`
}

// verdict is the API server's answer.
type verdict struct {
	Accepted bool           `json:"accepted"`
	Stage    string         `json:"stage"`
	Message  string         `json:"message"`
	Warnings []string       `json:"warnings"`
	Object   map[string]any `json:"object"`
	Stored   map[string]any `json:"stored"`
}

const (
	mostRounds        = 14
	ingressController = "ingress-cluster"
)

func init() {
	q := &request{}
	text, err := os.ReadFile(os.Getenv("RECORDER_REQUEST"))
	if err == nil {
		err = json.Unmarshal(text, q)
	}
	if err != nil {
		panic(err)
	}
	c, err := newOperatorCluster(q)
	if err != nil {
		panic(err)
	}
	client.RecorderNew = func(o client.Options) (client.Client, error) { return c.client(o.Scheme) }
	manager.RecorderNew = func(config *rest.Config, o manager.Options) (manager.Manager, error) {
		cl, err := c.client(o.Scheme)
		return &recorderManager{config: config, client: cl, start: func(ctx context.Context, m *recorderManager) error {
			return recordSteps(ctx, q, c, m)
		}}, err
	}
}

// recordSteps is the manager's Start.
func recordSteps(ctx context.Context, q *request, c *operatorCluster, m *recorderManager) error {
	controllers, err := startUp(ctx, m)
	if err != nil {
		return err
	}
	for _, node := range c.nodeNames() {
		_, _ = controllers["nodes-controller"].Reconcile(ctx, requestFor("", node))
	}
	if ingress := controllers[ingressController]; ingress != nil {
		if _, err := ingress.Reconcile(ctx, requestFor("", "cluster")); err != nil {
			return err
		}
	}
	if q.Types != "" {
		if err := describeTypes(m.GetScheme(), q.Types); err != nil {
			return err
		}
	}
	a := answer{Results: []result{}}
	if err := c.storeAgain(ctx); err != nil {
		return err
	}
	for _, s := range q.Steps {
		r := result{}
		if s.Manifest != "" {
			done, err := c.step(ctx, s, &r)
			if err != nil {
				return err
			}
			if done {
				a.Results = append(a.Results, r)
				continue
			}
		}
		if c.stored != nil {
			if err := settle(ctx, c, controllers, &r); err != nil {
				return err
			}
		}
		a.Results = append(a.Results, r)
	}
	a.State.Stored = c.stored
	if a.State.Objects, err = c.dump(ctx, false); err != nil {
		return err
	}
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if err := os.WriteFile(q.Answer, text, 0o644); err != nil {
		return err
	}
	os.Exit(0)
	return nil
}

// step takes a manifest; done says that nothing is to be reconciled afterwards.
func (c *operatorCluster) step(ctx context.Context, s step, r *result) (done bool, err error) {
	text, err := os.ReadFile(s.Manifest)
	if err != nil {
		return false, err
	}
	manifest := string(text)
	by := asker{}
	switch s.How {
	case "put":
		return true, c.put(ctx, manifest)
	case "apply":
		if manifest, err = c.apply(manifest); err != nil {
			return false, err
		}
	case "server-side":
		by = asker{Manager: "gitops", Apply: true}
	case "", "replace":
	default:
		return false, fmt.Errorf("no way %q to submit a manifest", s.How)
	}
	if c.stored != nil {
		if r.Live, err = c.read("/preferred"); err != nil {
			return false, err
		}
	}
	r.Verdict, err = c.submit(ctx, manifest, by)
	return false, err
}

// startUp runs what main has added beside controllers (they label nodes once, then wait), and returns the controllers.
func startUp(ctx context.Context, m *recorderManager) (map[string]reconcile.Reconciler, error) {
	controllers := map[string]reconcile.Reconciler{}
	ended, end := context.WithCancel(ctx)
	end()
	for _, r := range m.runnables {
		if c, ok := r.(reconcile.Reconciler); ok {
			controllers[controllerName(r)] = c
		} else if err := r.Start(ended); err != nil && !errors.Is(err, context.Canceled) {
			return nil, err
		}
	}
	for _, name := range []string{"nodes-controller", "hyperconverged-controller"} {
		if controllers[name] == nil {
			return nil, fmt.Errorf("main registered no %s", name)
		}
	}
	return controllers, nil
}

func controllerName(r manager.Runnable) string {
	v := reflect.Indirect(reflect.ValueOf(r)).FieldByName("Name")
	if !v.IsValid() {
		return ""
	}
	return v.String()
}

func requestFor(namespace, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}}
}

// settle reconciles until two rounds leave the same objects. Deployments become ready after the first.
func settle(ctx context.Context, c *operatorCluster, controllers map[string]reconcile.Reconciler, r *result) error {
	last := ""
	same := 0
	for r.Rounds = 1; r.Rounds <= mostRounds; r.Rounds++ {
		round, end := context.WithTimeout(ctx, time.Minute)
		// A request of another name than a node's is one about the HyperConverged.
		_, _ = controllers["nodes-controller"].Reconcile(round, requestFor("", "no-such-node"))
		clear(c.asked)
		_, err := controllers["hyperconverged-controller"].Reconcile(round, reconcile.Request{NamespacedName: c.name()})
		end()
		r.Asked = slices.Sorted(maps.Keys(c.asked))
		r.Error = ""
		if err != nil {
			r.Error = err.Error()
		}
		if err := c.deploymentsReady(ctx); err != nil {
			return err
		}
		objects, err := c.dump(ctx, true)
		if err != nil {
			return err
		}
		text, err := json.Marshal([]any{objects, r.Error})
		if err != nil {
			return err
		}
		if string(text) == last {
			same++
		} else {
			same = 0
		}
		last = string(text)
		if r.Objects = objects; same == 2 {
			r.Settled = true
			break
		}
	}
	var err error
	if r.HyperConverged, err = c.read(""); err != nil {
		return err
	}
	r.Metrics, err = gauges()
	return err
}

// gauges reads the operator's own metrics.
func gauges() ([]map[string]any, error) {
	families, err := controllerruntimemetrics.Registry.Gather()
	if err != nil {
		return nil, err
	}
	all := []map[string]any{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if m.GetGauge() == nil {
				continue
			}
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			all = append(all, map[string]any{"name": family.GetName(), "labels": labels, "value": m.GetGauge().GetValue()})
		}
	}
	return all, nil
}
