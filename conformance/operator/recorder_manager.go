package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// recorderManager is what an operator's main gets for a manager. It keeps the controllers and webhooks that main
// registers, and Start hands them to the recorder instead of watching a cluster.
type recorderManager struct {
	manager.Manager // nil: what isn't below isn't called

	config    *rest.Config
	client    client.Client
	runnables []manager.Runnable
	server    *recorderWebhookServer
	start     func(context.Context, *recorderManager) error
}

func (m *recorderManager) Add(r manager.Runnable) error {
	m.runnables = append(m.runnables, r)
	return nil
}

func (m *recorderManager) Start(ctx context.Context) error { return m.start(ctx, m) }

func (m *recorderManager) Elected() <-chan struct{} {
	elected := make(chan struct{})
	close(elected)
	return elected
}

func (m *recorderManager) AddHealthzCheck(string, healthz.Checker) error { return nil }
func (m *recorderManager) AddReadyzCheck(string, healthz.Checker) error  { return nil }
func (m *recorderManager) AddMetricsServerExtraHandler(string, http.Handler) error {
	return nil
}
func (m *recorderManager) GetWebhookServer() webhook.Server { return m.server }
func (m *recorderManager) GetLogger() logr.Logger           { return logr.Discard() }
func (m *recorderManager) GetControllerOptions() ctrlconfig.Controller {
	return ctrlconfig.Controller{}
}
func (m *recorderManager) GetHTTPClient() *http.Client          { return http.DefaultClient }
func (m *recorderManager) GetConfig() *rest.Config              { return m.config }
func (m *recorderManager) GetCache() cache.Cache                { return nil }
func (m *recorderManager) GetScheme() *runtime.Scheme           { return m.client.Scheme() }
func (m *recorderManager) GetClient() client.Client             { return m.client }
func (m *recorderManager) GetAPIReader() client.Reader          { return m.client }
func (m *recorderManager) GetRESTMapper() meta.RESTMapper       { return m.client.RESTMapper() }
func (m *recorderManager) GetFieldIndexer() client.FieldIndexer { return recorderIndexer{} }
func (m *recorderManager) GetEventRecorderFor(string) record.EventRecorder {
	return &record.FakeRecorder{} // without a channel it drops events
}

type recorderIndexer struct{}

func (recorderIndexer) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	return nil
}

// recorderWebhookServer keeps the handlers that are registered.
type recorderWebhookServer struct {
	mux *http.ServeMux
}

func (s *recorderWebhookServer) NeedLeaderElection() bool { return false }
func (s *recorderWebhookServer) Register(path string, handler http.Handler) {
	s.mux.Handle(path, handler)
}
func (s *recorderWebhookServer) Start(context.Context) error {
	return errors.New("not started by the recorder")
}
func (s *recorderWebhookServer) StartedChecker() healthz.Checker { return healthz.Ping }
func (s *recorderWebhookServer) WebhookMux() *http.ServeMux      { return s.mux }
