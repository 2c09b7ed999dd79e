// Relabels the targets that the first argument describes with Prometheus's own library, in rounds: a line on standard
// input starts a round of the job of that name, and a line on standard output has its CPU seconds and the number of
// targets kept.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/scrape"
	"go.yaml.in/yaml/v2"
)

// world has templates of labels, where {g} is the number of the group and {t} that of the target in it.
type world struct {
	Groups       int               `json:"groups"`
	Targets      int               `json:"targets"`
	GroupLabels  map[string]string `json:"groupLabels"`
	TargetLabels map[string]string `json:"targetLabels"`
	Jobs         map[string][]any  `json:"jobs"`
}

type group struct {
	labels  model.LabelSet
	targets []model.LabelSet
}

func main() {
	var given world
	if err := json.Unmarshal([]byte(os.Args[1]), &given); err != nil {
		log.Fatal(err)
	}
	groups := make([]group, given.Groups)
	for g := range groups {
		groups[g].labels = filled(given.GroupLabels, g, 0)
		for t := range given.Targets {
			groups[g].targets = append(groups[g].targets, filled(given.TargetLabels, g, t))
		}
	}
	jobs := map[string]*config.ScrapeConfig{}
	for name, rules := range given.Jobs {
		job, err := load(name, rules)
		if err != nil {
			log.Fatal(err)
		}
		jobs[name] = job
	}
	fmt.Println("ready")
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		runtime.GC()
		before := cpuSeconds()
		kept := relabel(jobs[input.Text()], groups)
		after := cpuSeconds()
		fmt.Println(after-before, len(kept))
		runtime.KeepAlive(kept)
	}
}

func filled(templates map[string]string, g, t int) model.LabelSet {
	fill := strings.NewReplacer("{g}", strconv.Itoa(g), "{t}", strconv.Itoa(t))
	labels := model.LabelSet{}
	for name, text := range templates {
		labels[model.LabelName(name)] = model.LabelValue(fill.Replace(text))
	}
	return labels
}

func load(name string, rules []any) (*config.ScrapeConfig, error) {
	fields := map[string]any{"job_name": name, "scheme": "http", "metrics_path": "/metrics", "relabel_configs": rules}
	text, err := yaml.Marshal(fields)
	if err != nil {
		return nil, err
	}
	job := &config.ScrapeConfig{}
	if err := yaml.UnmarshalStrict(text, job); err != nil {
		return nil, err
	}
	return job, job.Validate(config.DefaultGlobalConfig)
}

func relabel(job *config.ScrapeConfig, groups []group) []labels.Labels {
	var kept []labels.Labels
	builder := labels.NewBuilder(labels.EmptyLabels())
	for _, group := range groups {
		for _, target := range group.targets {
			found, err := scrape.PopulateLabels(builder, job, target, group.labels)
			if err != nil {
				log.Fatal(err)
			}
			if !found.IsEmpty() {
				kept = append(kept, found)
			}
		}
	}
	return kept
}

// cpuSeconds counts all threads, so that the garbage collector's are in it.
func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return float64(usage.Utime.Sec+usage.Stime.Sec) + float64(usage.Utime.Usec+usage.Stime.Usec)/1e6
}
