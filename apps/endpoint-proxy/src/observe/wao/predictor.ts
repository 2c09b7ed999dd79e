import type { Metrics } from "@evenkeel/metrics";
import type { Clock } from "@evenkeel/runtime";
import type { metrics } from "../../metrics.ts";
import type { Credentials, JsonServers } from "./json-servers.ts";
import type { EndpointTerm, NodeConfig } from "./node-config.ts";

/** What watts are predicted from. */
export interface PredictorInput {
  /** Per cent of the node's capacity. */
  readonly cpu: number;
  /** Degrees Celsius. */
  readonly inletTemp: number;
  /** Pascals. */
  readonly deltaP: number;
}

export interface PredictorOptions {
  readonly servers: Pick<JsonServers, "ask">;
  /** User and password of a Secret of type basic-auth. */
  readonly credentials: (namespace: string, secret: string, signal: AbortSignal) => Promise<Credentials>;
  readonly predictions: Metrics<typeof metrics>["predictions"];
  readonly clock: Clock;
}

/** What WAO's own Fake predictor says. */
const FAKE_WATTS = 3.14;
/** Milliseconds for which answers are kept, as in WAO. */
const KEPT = 30 * 60_000;
/** Answers that are kept; the oldest go first. */
const MOST_KEPT = 20_000;

/** What is known within one round. */
interface Round {
  readonly signal: AbortSignal;
  /** Servers that do not answer, and why. */
  readonly silent: Map<string, string>;
  readonly secrets: Map<string, Promise<Credentials>>;
}

type Place = { readonly url: string } | "Fake";

/**
 * Predicted watts of nodes, by the servers that their NodeConfigs name. Answers are kept by input rounded to a tenth,
 * so that a node whose use hardly changes is not predicted anew. A server that does not answer is not asked again in
 * the same round.
 */
export class Predictor {
  readonly #options: PredictorOptions;
  readonly #kept = new Map<string, { readonly value: Promise<unknown>; readonly until: number }>();

  constructor(options: PredictorOptions) {
    this.#options = options;
  }

  /** A round of predictions. */
  round(signal: AbortSignal): (config: NodeConfig, input: PredictorInput) => Promise<number> {
    const round: Round = { signal, silent: new Map(), secrets: new Map() };
    return (config, input) => this.#predict(config, input, round);
  }

  async #predict(config: NodeConfig, { cpu, inletTemp, deltaP }: PredictorInput, round: Round): Promise<number> {
    const { powerConsumption: term = {}, powerConsumptionEndpointProvider: provider } = config.spec?.predictor ?? {};
    const { namespace = "" } = config.metadata;
    const place = provider ? await this.#provided(namespace, provider, round) : placeOf(term);
    if (place === "Fake") return FAKE_WATTS;
    const data = [cpu, inletTemp, deltaP].map((value) => Math.round(value * 10) / 10);
    return this.#keep([namespace, place.url, ...data].join(" "), async () => {
      const inputs = [{ name: "predict-prob", shape: [1, 3], datatype: "FP32", data: [data] }];
      const answer = await this.#ask(namespace, place.url, term, round, { inputs });
      return wattsOf(answer);
    });
  }

  /** What an endpoint provider says. It has its own credentials; those of the predictor are in `powerConsumption`. */
  async #provided(namespace: string, provider: EndpointTerm, round: Round): Promise<Place> {
    if (provider.type === "Fake") return "Fake";
    if (provider.type !== "Redfish") throw new Error(`endpoint provider type ${provider.type ?? ""} is not known`);
    const base = (provider.endpoint ?? "").replace(/\/+$/, "");
    return this.#keep(`provider ${namespace} ${base}`, async () => {
      const ask = (path: string) => this.#ask(namespace, base + path, provider, round);
      const systems = (await ask("/redfish/v1/Systems")) as { Members?: readonly { "@odata.id"?: string }[] };
      const system = systems.Members?.[0]?.["@odata.id"];
      if (system === undefined) throw new Error("the Redfish server has no system");
      const model = (await ask(`${system.replace(/\/+$/, "")}/MachineLearningModel`)) as RedfishModel;
      const {
        Type: type = "",
        Url: url = "",
        Name: name = "",
        Version: version = "",
      } = model.PowerConsumptionModel ?? {};
      const versions = version === "" ? "" : `/versions/${version}`;
      const whole = url.includes("/models/") ? url : `${url.replace(/\/+$/, "")}/v2/models/${name}${versions}`;
      return placeOf({ type, endpoint: whole });
    });
  }

  async #ask(
    namespace: string,
    url: string,
    { basicAuthSecret }: EndpointTerm,
    { signal, silent, secrets }: Round,
    body?: unknown,
  ): Promise<unknown> {
    const { servers, credentials, predictions, clock } = this.#options;
    const origin = URL.parse(url)?.origin ?? "";
    const known = silent.get(origin);
    if (known !== undefined) throw new Error(known);
    const { name = "" } = basicAuthSecret ?? {};
    if (name !== "" && !secrets.has(name)) secrets.set(name, credentials(namespace, name, signal));
    const secret = await secrets.get(name);
    const started = clock.monotonic();
    const measure = (result: "ok" | "fault") => predictions.observe({ result }, (clock.monotonic() - started) / 1000);
    try {
      const answer = await servers.ask(url, secret, signal, body);
      measure("ok");
      return answer;
    } catch (error) {
      measure("fault");
      const message = `${origin} did not predict: ${error instanceof Error ? error.message : String(error)}`;
      if (isSilence(error)) silent.set(origin, message);
      throw new Error(message, { cause: error });
    }
  }

  /** Requests for the same answer at the same time are one. A failure is not kept. */
  #keep<T>(key: string, make: () => Promise<T>): Promise<T> {
    const now = this.#options.clock.monotonic();
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.until > now) return kept.value as Promise<T>;
    const value = make();
    this.#kept.delete(key);
    this.#kept.set(key, { value, until: now + KEPT });
    value.catch(() => this.#kept.delete(key));
    const [oldest = key] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT) this.#kept.delete(oldest);
    return value;
  }
}

interface RedfishModel {
  readonly PowerConsumptionModel?: {
    readonly Name?: string;
    readonly Type?: string;
    readonly Url?: string;
    readonly Version?: string;
  };
}

/** WAO takes the model and its version from the path, and the server from the rest. */
function placeOf({ type, endpoint = "" }: EndpointTerm): Place {
  if (type === "Fake") return "Fake";
  if (type !== "V2InferenceProtocol") throw new Error(`predictor type ${type ?? ""} is not known`);
  const segments = endpoint.split("/");
  const after = (word: string) => segments[segments.lastIndexOf(word) + 1] ?? "";
  const model = segments.includes("models") ? after("models") : "";
  const origin = URL.parse(endpoint)?.origin;
  if (origin === undefined || model === "") throw new Error(`predictor endpoint ${endpoint} names no model`);
  const version = segments.includes("versions") ? `/versions/${after("versions")}` : "";
  return { url: `${origin}/v2/models/${model}${version}/infer` };
}

function wattsOf(answer: unknown): number {
  const { outputs } = answer as { outputs?: readonly { data?: readonly unknown[] }[] };
  const watts = outputs?.[0]?.data?.[0];
  if (typeof watts !== "number" || !Number.isFinite(watts) || watts < 0) throw new Error("the answer has no watts");
  return watts;
}

/** Whether the server does not answer at all, so that asking it again is in vain. */
function isSilence(error: unknown): boolean {
  const { name, code } = error as { name?: unknown; code?: unknown };
  return (
    name === "TimeoutError" || code === "ECONNREFUSED" || code === "UND_ERR_CONNECT_TIMEOUT" || code === "EHOSTUNREACH"
  );
}
