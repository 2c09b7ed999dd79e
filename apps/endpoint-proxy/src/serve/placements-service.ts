import { placementsV1, rpcErrors, type Served, Status } from "@evenkeel/rpc";
import type { DecisionSource } from "@evenkeel/runtime";
import { type Json, textAt } from "../bodies/json-text.ts";
import { POLICY_ANNOTATIONS } from "../decide/split-policy.ts";
import type { Member } from "../members/member.ts";
import { PROXY_IDENTITY } from "../observe/peer-scores.ts";
import { annotationsOf } from "../reads/merged-object.ts";
import { leftOut } from "../reads/named-read.ts";
import { pathOf } from "../writes/api-path.ts";
import { KubeFault } from "../writes/kube-status.ts";
import { AskedMembers, OBJECT_LIMIT } from "../writes/member-answers.ts";
import { isDone, MemberCalls, type Reply } from "../writes/member-calls.ts";
import type { AnswersOptions } from "../writes/options.ts";
import { NoSuchWorkload, PlacementUnknown } from "./errors.ts";
import { ListedWorkloads } from "./listed-workloads.ts";
import { preview } from "./preview.ts";
import { type InMember, lastOf, placementOf } from "./workload-placement.ts";
import { parseWorkload, pathOfWorkload, type WorkloadName, workloadText } from "./workload-name.ts";

export interface PlacementsServiceOptions {
  /** What writes are answered by, so that a preview sees what a write would see. */
  readonly answers: AnswersOptions;
  /** Decisions of all replicas. */
  readonly decisions: Pick<DecisionSource, "list">;
}

type Implementation = placementsV1.PlacementsServiceImplementation;

/** How far back the last decision about a workload that was carried out may be, behind dry runs. */
const DECISIONS = 50;

/** `evenkeel.placements.v1.Placements`. */
export function placementsService(options: PlacementsServiceOptions): Served<placementsV1.PlacementsDefinition> {
  return {
    definition: placementsV1.PlacementsDefinition,
    implementation: new PlacementsService(options),
    statuses: { [NoSuchWorkload.entry.code]: Status.NOT_FOUND },
  };
}

class PlacementsService implements Implementation {
  readonly #answers: AnswersOptions;
  readonly #decisions: PlacementsServiceOptions["decisions"];
  readonly #calls: MemberCalls;
  readonly #listed: ListedWorkloads;

  constructor({ answers, decisions }: PlacementsServiceOptions) {
    this.#answers = { ...answers, members: new AskedMembers(answers.members) };
    this.#decisions = decisions;
    const { client, deadline, clock, labelKey } = answers;
    this.#calls = new MemberCalls(client, PROXY_IDENTITY, { deadline, size: OBJECT_LIMIT });
    this.#listed = new ListedWorkloads({ calls: this.#calls, clock, labelKey, members: () => this.#members() });
  }

  preview: Implementation["preview"] = async ({ replicas, ...request }) => {
    const supposed = { ...request, ...(replicas !== undefined && { replicas: Number(replicas) }) };
    const { workload, total, verdict } = await answered("Preview", async () =>
      preview(this.#answers, this.#calls, supposed),
    );
    const before = new Map(verdict.before.map((part) => [part.cluster, part.replicas]));
    return {
      workload: workloadText(workload),
      replicas: BigInt(total),
      parts: verdict.after.map(({ cluster, replicas: after, reason, note }) => ({
        ...{ cluster, reason, note, before: BigInt(before.get(cluster) ?? 0), after: BigInt(after) },
      })),
      ...{ action: verdict.action, reason: verdict.reason, message: verdict.message },
    };
  };

  explain: Implementation["explain"] = async ({ workload: text }) => {
    const workload = parseWorkload(text);
    if (workload === undefined) {
      const fault = "workload is not Deployment/<namespace>/<name> or StatefulSet/<namespace>/<name>";
      throw new rpcErrors.BadRequest({ method: "Explain", fault });
    }
    const replies = await this.#read(workload);
    const held = replies.filter(isDone).flatMap(({ json }) => (json === undefined ? [] : [json]));
    const warnings = leftOut(replies);
    if (held.length === 0) {
      if (warnings.length > 0) throw new PlacementUnknown({ method: "Explain", fault: warnings.join("; ") });
      throw new NoSuchWorkload({ fault: `${workloadText(workload)} is in no cluster` });
    }
    const decision = lastOf(await this.#decisions.list({ object: workloadText(workload) }, DECISIONS));
    return {
      placement: placementOf(workloadText(workload), replies.map(inMember), decision),
      ...(decision && { decision }),
      policy: policyOf(held[0]),
      warnings: [...warnings],
    };
  };

  list: Implementation["list"] = async () => {
    const { found, warnings, truncated } = await this.#listed.list();
    const placements = [...found].map(([workload, members]) => placementOf(workload, members, undefined));
    return { placements, warnings: [...warnings], truncated };
  };

  #members(): readonly Member[] {
    return this.#answers.members.all();
  }

  async #read(workload: WorkloadName): Promise<readonly Reply[]> {
    const path = pathOf(pathOfWorkload(workload));
    return this.#calls.all(this.#members(), () => ({ method: "GET", path }));
  }
}

function inMember(reply: Reply): InMember {
  const object = isDone(reply) ? (reply.json ?? null) : reply.status === 404 ? null : undefined;
  return { member: reply.member, object };
}

/** What a workload's annotations say of its split. */
function policyOf(object: Json | undefined): Record<string, string> {
  const known: readonly string[] = POLICY_ANNOTATIONS;
  return Object.fromEntries(Object.entries(annotationsOf(object)).filter(([name]) => known.includes(name)));
}

/** A refusal in the words of Kubernetes, as one of this API. */
async function answered<T>(method: string, answer: () => Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof KubeFault)) throw error;
    const fault = textAt(error.status, ["message"]) ?? error.message;
    if (error.code === 404) throw new NoSuchWorkload({ fault }, { cause: error });
    if (error.code === 400 || error.code === 422) throw new rpcErrors.BadRequest({ method, fault }, { cause: error });
    throw new PlacementUnknown({ method, fault }, { cause: error });
  }
}
