// Answers what Prometheus makes of targets: one question a line on standard input, one answer a line on standard output,
// both JSON. The rules and the checks are those of Prometheus's own library.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"log"
	"os"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	"github.com/prometheus/prometheus/scrape"
	"go.yaml.in/yaml/v2"
)

type question struct {
	// Job is a scrape config with the names that Prometheus's configuration has.
	Job    map[string]any `json:"job"`
	Group  model.LabelSet `json:"group"`
	Target model.LabelSet `json:"target"`
	// Steps asks for the labels after each rule, too.
	Steps bool `json:"steps"`
}

// answer has one of Labels, Dropped, Fault and Refused.
type answer struct {
	Labels  map[string]string `json:"labels,omitempty"`
	Dropped bool              `json:"dropped,omitempty"`
	// Fault is why the target cannot be scraped.
	Fault string `json:"fault,omitempty"`
	// Refused is why Prometheus would not load the job.
	Refused string `json:"refused,omitempty"`
	// Steps holds the labels after each rule; the last is null if that rule dropped the target.
	Steps []map[string]string `json:"steps,omitempty"`
}

func main() {
	input := bufio.NewReader(os.Stdin)
	output := bufio.NewWriter(os.Stdout)
	for {
		line, err := input.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		reply, err := respond(line)
		if err != nil {
			log.Fatalf("%v in line %s", err, line)
		}
		if _, err := output.Write(append(reply, '\n')); err != nil {
			log.Fatal(err)
		}
	}
	if err := output.Flush(); err != nil {
		log.Fatal(err)
	}
}

func respond(line []byte) ([]byte, error) {
	var asked question
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&asked); err != nil {
		return nil, err
	}
	return json.Marshal(answerTo(asked))
}

func answerTo(asked question) answer {
	job, err := load(asked.Job)
	if err != nil {
		return answer{Refused: err.Error()}
	}
	var given answer
	builder := labels.NewBuilder(labels.EmptyLabels())
	if asked.Steps {
		given.Steps = steps(builder, job, asked)
	}
	kept, err := scrape.PopulateLabels(builder, job, asked.Target, asked.Group)
	switch {
	case err != nil:
		given.Fault = err.Error()
	case kept.IsEmpty():
		given.Dropped = true
	default:
		given.Labels = kept.Map()
	}
	return given
}

// load reads and checks a job as Prometheus does when it starts.
func load(fields map[string]any) (*config.ScrapeConfig, error) {
	text, err := yaml.Marshal(withNumbers(fields))
	if err != nil {
		return nil, err
	}
	job := &config.ScrapeConfig{}
	if err := yaml.UnmarshalStrict(text, job); err != nil {
		return nil, err
	}
	return job, job.Validate(config.DefaultGlobalConfig)
}

// withNumbers undoes json.Number, which YAML would write as a string; a float64 would lose digits of a modulus.
func withNumbers(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			value[name] = withNumbers(field)
		}
	case []any:
		for index, item := range value {
			value[index] = withNumbers(item)
		}
	case json.Number:
		var number any
		if err := yaml.Unmarshal([]byte(value), &number); err == nil {
			return number
		}
	}
	return value
}

// steps passes the first rules anew for each step: reading a builder's labels sorts them, which a real pass does not.
func steps(builder *labels.Builder, job *config.ScrapeConfig, asked question) []map[string]string {
	after := []map[string]string{}
	for index := range job.RelabelConfigs {
		scrape.PopulateDiscoveredLabels(builder, job, asked.Target, asked.Group)
		if !relabel.ProcessBuilder(builder, job.RelabelConfigs[:index+1]...) {
			return append(after, nil)
		}
		after = append(after, builder.Labels().Map())
	}
	return after
}
