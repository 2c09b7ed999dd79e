package counting

import "go.opentelemetry.io/collector/pdata/pmetric"

// scrapesKept is how many scrapes are remembered of each target; older ones are forgotten.
const scrapesKept = 1000

type key struct{ job, instance string }

// target is what was scraped of one job and instance.
type target struct {
	Job      string   `json:"job"`
	Instance string   `json:"instance"`
	Samples  int      `json:"samples"`
	Scrapes  []scrape `json:"scrapes"`
}

// scrape is one sample of `up`.
type scrape struct {
	// At is the time of the scrape in milliseconds.
	At int64 `json:"at"`
	Up bool  `json:"up"`
}

// count adds the samples of one batch. The receiver names job and instance as attributes of the resource.
func count(targets map[key]*target, metrics pmetric.Metrics) {
	for _, resource := range metrics.ResourceMetrics().All() {
		job, _ := resource.Resource().Attributes().Get("service.name")
		instance, _ := resource.Resource().Attributes().Get("service.instance.id")
		name := key{job.AsString(), instance.AsString()}
		if targets[name] == nil {
			targets[name] = &target{Job: name.job, Instance: name.instance, Scrapes: []scrape{}}
		}
		for _, scope := range resource.ScopeMetrics().All() {
			for _, metric := range scope.Metrics().All() {
				targets[name].add(metric)
			}
		}
	}
}

func (t *target) add(metric pmetric.Metric) {
	switch metric.Type() {
	case pmetric.MetricTypeGauge:
		t.Samples += metric.Gauge().DataPoints().Len()
	case pmetric.MetricTypeSum:
		t.Samples += metric.Sum().DataPoints().Len()
	case pmetric.MetricTypeHistogram:
		t.Samples += metric.Histogram().DataPoints().Len()
	case pmetric.MetricTypeExponentialHistogram:
		t.Samples += metric.ExponentialHistogram().DataPoints().Len()
	case pmetric.MetricTypeSummary:
		t.Samples += metric.Summary().DataPoints().Len()
	}
	if metric.Name() == "up" && metric.Type() == pmetric.MetricTypeGauge {
		t.addScrapes(metric.Gauge().DataPoints())
	}
}

func (t *target) addScrapes(points pmetric.NumberDataPointSlice) {
	for _, point := range points.All() {
		// A staleness marker says that scraping has ended; it is no scrape.
		if point.Flags().NoRecordedValue() {
			continue
		}
		if len(t.Scrapes) == scrapesKept {
			t.Scrapes = t.Scrapes[1:]
		}
		t.Scrapes = append(t.Scrapes, scrape{At: point.Timestamp().AsTime().UnixMilli(), Up: point.DoubleValue() == 1})
	}
}
