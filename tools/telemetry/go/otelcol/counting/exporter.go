// Package counting is an exporter that keeps counts instead of sending samples anywhere.
package counting

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Config of the exporter `counting`.
type Config struct {
	// Socket is the path of a Unix socket that answers every request with the counts as JSON.
	Socket string `mapstructure:"socket"`
}

// Validate refuses a configuration that gives nobody the counts.
func (c *Config) Validate() error {
	if c.Socket == "" {
		return errors.New("socket must be set")
	}
	return nil
}

// NewFactory makes the exporter known to a collector.
func NewFactory() exporter.Factory {
	create := func(_ context.Context, _ exporter.Settings, config component.Config) (exporter.Metrics, error) {
		return &counter{socket: config.(*Config).Socket, targets: map[key]*target{}}, nil
	}
	return exporter.NewFactory(
		component.MustNewType("counting"),
		func() component.Config { return &Config{} },
		exporter.WithMetrics(create, component.StabilityLevelStable),
	)
}

type counter struct {
	socket  string
	server  http.Server
	mutex   sync.Mutex
	targets map[key]*target
}

func (c *counter) Start(context.Context, component.Host) error {
	listener, err := net.Listen("unix", c.socket)
	if err != nil {
		return err
	}
	c.server = http.Server{Handler: c, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = c.server.Serve(listener) }()
	return nil
}

func (c *counter) Shutdown(context.Context) error {
	return c.server.Close()
}

func (c *counter) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{}
}

func (c *counter) ConsumeMetrics(_ context.Context, metrics pmetric.Metrics) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	count(c.targets, metrics)
	return nil
}

func (c *counter) ServeHTTP(answer http.ResponseWriter, _ *http.Request) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	list := make([]*target, 0, len(c.targets))
	for _, target := range c.targets {
		list = append(list, target)
	}
	answer.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(answer).Encode(list)
}
