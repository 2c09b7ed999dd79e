import { type Decision, type DecisionFilter, type DecisionSource, runtimeErrors } from "@evenkeel/runtime";
import { BadRequest, NotFound } from "../errors.ts";
import {
  type Decision as DecisionMessage,
  DecisionsDefinition,
  type DecisionsServiceImplementation,
  type DeepPartial,
} from "../generated/evenkeel/decisions/v1/decisions.ts";
import type { Served } from "../server/served.ts";

export interface DecisionsServiceOptions {
  readonly source: DecisionSource;
  /** The flight recorder's file for a decision. */
  readonly recording: (id: string) => string | undefined;
}

const DEFAULT_LIMIT = 100;
const HIGHEST_LIMIT = 1000;
const EARLIER = 20;

/** `evenkeel.decisions.v1.Decisions`, the same for every service. */
export function decisionsService(options: DecisionsServiceOptions): Served<DecisionsDefinition> {
  return {
    definition: DecisionsDefinition,
    implementation: new DecisionsService(options),
    namesObjects: true,
    attachments: {
      snapshot: ({ fileName, content }) => ({ name: fileName, type: "application/json; charset=utf-8", content }),
    },
  };
}

class DecisionsService implements DecisionsServiceImplementation {
  readonly #source: DecisionSource;
  readonly #recording: (id: string) => string | undefined;

  constructor({ source, recording }: DecisionsServiceOptions) {
    this.#source = source;
    this.#recording = recording;
  }

  list: DecisionsServiceImplementation["list"] = async (request) => {
    const limit = bounded("List", "limit", request.limit) || DEFAULT_LIMIT;
    const decisions = await this.#source.list(filterOf("List", request), limit);
    return { decisions: decisions.map(messageOf) };
  };

  watch: DecisionsServiceImplementation["watch"] = (request, { signal }) => {
    const filter = filterOf("Watch", request);
    return this.#watch(filter, bounded("Watch", "last", request.last), signal);
  };

  explain: DecisionsServiceImplementation["explain"] = async ({ object }) => {
    if (object === "") throw new BadRequest({ method: "Explain", fault: "object is needed, as Kind/namespace/name" });
    const [decision, ...earlier] = await this.#source.list(filterOf("Explain", { object }), EARLIER + 1);
    if (!decision) throw new NotFound({ what: `decision about ${object}` });
    return {
      decision: messageOf(decision),
      earlier: earlier.map(messageOf),
      recorded: this.#recording(decision.id) !== undefined,
    };
  };

  snapshot: DecisionsServiceImplementation["snapshot"] = ({ id }) => {
    if (!/^[0-9a-f]{1,64}$/.test(id)) {
      throw new BadRequest({ method: "Snapshot", fault: "id is not the id of a decision" });
    }
    const file = this.#recording(id);
    if (file === undefined) throw new runtimeErrors.NoRecording({ id });
    return Promise.resolve({ fileName: `${id}.json`, content: Buffer.from(file) });
  };

  async *#watch(filter: DecisionFilter, last: number, signal: AbortSignal) {
    // Watched before it is listed: what happens in between comes twice rather than never, and the second is left out.
    const news = this.#source.watch(filter, signal);
    const past = last === 0 ? [] : await this.#source.list(filter, last);
    const told = new Set(past.map(({ id }) => id));
    for (const decision of past.toReversed()) yield { decision: messageOf(decision) };
    for await (const decision of news) {
      if (!told.delete(decision.id)) yield { decision: messageOf(decision) };
    }
  }
}

/** An empty text asks for any. */
function filterOf(
  method: string,
  { object, action = "", reason = "" }: { object: string; action?: string; reason?: string },
): DecisionFilter {
  for (const [name, text] of Object.entries({ object, action, reason })) {
    if (text.length > 512) throw new BadRequest({ method, fault: `${name} is longer than 512 characters` });
  }
  return { object: object || undefined, action: action || undefined, reason: reason || undefined };
}

function bounded(method: string, field: string, value: number): number {
  if (value > HIGHEST_LIMIT) throw new BadRequest({ method, fault: `${field} is more than ${HIGHEST_LIMIT}` });
  return value;
}

function messageOf({ object, ...rest }: Decision): DeepPartial<DecisionMessage> {
  return { ...rest, object };
}
