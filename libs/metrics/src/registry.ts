import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry as PromRegistry } from "prom-client";
import type { Declaration, Labels, LabelValues, MetricTable } from "./declare.ts";
import { SeriesSet } from "./series.ts";

export interface CounterHandle<L extends Labels> {
  inc(labels: LabelValues<L>, by?: number): void;
}

export interface GaugeHandle<L extends Labels> {
  /** A `value` that is not finite removes the series: unknown is absent, not zero. */
  set(labels: LabelValues<L>, value: number): void;
  /** Adds to the value, which counts as zero before it was first set: for what is counted in and out. */
  add(labels: LabelValues<L>, by: number): void;
}

export interface HistogramHandle<L extends Labels> {
  observe(labels: LabelValues<L>, value: number): void;
}

type Handle<D extends Declaration> =
  D extends Declaration<"counter", infer L>
    ? CounterHandle<L>
    : D extends Declaration<"gauge", infer L>
      ? GaugeHandle<L>
      : D extends Declaration<"histogram", infer L>
        ? HistogramHandle<L>
        : never;

export type Metrics<T extends MetricTable> = { readonly [Key in keyof T]: Handle<T[Key]> };

/** The metrics of one process. Nothing is global: two registries in one process do not meet. */
export class MetricRegistry {
  readonly #prom = new PromRegistry();
  readonly #series: SeriesSet[] = [];
  readonly #termEnds: (() => void)[] = [];

  /** Adds the metrics of `table`; series whose labels are all closed appear at once, at zero. */
  register<const T extends MetricTable>(table: T): Metrics<T> {
    const handles = Object.entries(table).map(([key, declaration]) => [key, this.#handle(declaration)] as const);
    return Object.fromEntries(handles) as unknown as Metrics<T>;
  }

  /** Adds what every process reports: CPU, memory, file descriptors, garbage collection and the event loop's delay. */
  registerProcess(): void {
    collectDefaultMetrics({ register: this.#prom });
  }

  /**
   * Removes the series of an object that is gone: those of every metric that declares all of `identity`'s labels as
   * `perObject` and carries these values.
   */
  forget(identity: Readonly<Record<string, string>>): void {
    for (const series of this.#series) series.forget(identity);
  }

  /** Removes every series of the gauges that are declared `leaderOnly`: this process no longer leads. */
  endTerm(): void {
    for (const clear of this.#termEnds) clear();
  }

  get contentType(): string {
    return this.#prom.contentType;
  }

  /** The exposition text. */
  text(): Promise<string> {
    return this.#prom.metrics();
  }

  #handle(declaration: Declaration): CounterHandle<Labels> | GaugeHandle<Labels> | HistogramHandle<Labels> {
    const { name, help, labels } = declaration;
    const common = { name, help, labelNames: Object.keys(labels), registers: [this.#prom] };
    switch (declaration.type) {
      case "counter": {
        const metric = new Counter(common);
        const series = this.#track(declaration, metric);
        series.eachClosed((values) => metric.inc(values, 0));
        return {
          inc: (values, by = 1) => {
            const admitted = series.admit(values);
            if (admitted) metric.inc(admitted, by);
          },
        };
      }
      case "gauge": {
        const metric = new Gauge(common);
        const series = this.#track(declaration, metric);
        // prom-client shows a gauge without labels as zero before anyone has set it, and after a reset.
        const hide = () => Object.keys(labels).length === 0 && metric.remove();
        hide();
        if (declaration.leaderOnly) {
          this.#termEnds.push(() => {
            series.clear();
            metric.reset();
            hide();
          });
        }
        return {
          set: (values, value) => {
            const admitted = Number.isFinite(value) ? series.admit(values) : undefined;
            if (admitted) metric.set(admitted, value);
            else series.drop(values);
          },
          add: (values, by) => {
            const admitted = series.admit(values);
            if (admitted) metric.inc(admitted, by);
          },
        };
      }
      case "histogram": {
        const metric = new Histogram({ ...common, buckets: [...(declaration.buckets ?? [])] });
        const series = this.#track(declaration, metric);
        series.eachClosed((values) => metric.zero(values));
        return {
          observe: (values, value) => {
            const admitted = series.admit(values);
            if (admitted && Number.isFinite(value)) metric.observe(admitted, value);
          },
        };
      }
    }
  }

  #track({ labels }: Declaration, metric: { remove(values: Record<string, string>): void }): SeriesSet {
    const series = new SeriesSet(labels, (values) => metric.remove(values));
    this.#series.push(series);
    return series;
  }
}
