import { isPaused, type KubeObject, nameKey, type Resource, type ResourceType } from "@evenkeel/kube";
import { commonV1, rpcErrors, type Served } from "@evenkeel/rpc";
import type { Decision } from "@evenkeel/runtime";
import type { ReadBoard } from "./object-board.ts";
import { objectFilter, objectNamed } from "./object-filter.ts";
import { pausing } from "./pausing.ts";
import { watchBoard } from "./watch-board.ts";

export type ObjectView = commonV1.DeepPartial<commonV1.ObjectView>;

interface ConditionedObject extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
      readonly lastTransitionTime: string;
    }[];
  };
}

/**
 * What every service can show of an object: the last decision where this process leads, what the status says elsewhere.
 */
export function objectView(object: ConditionedObject, decision?: Decision): ObjectView {
  const { namespace = "", name = "" } = object.metadata;
  const conditions = object.status?.conditions ?? [];
  const ready = conditions.find(({ type }) => type === "Ready");
  return {
    name: { namespace, name },
    ...(decision && { value: decision.after, decidedAt: decision.at }),
    reason: decision?.reason ?? ready?.reason ?? "",
    message: decision?.message ?? ready?.message ?? "",
    dryRun: decision?.dryRun ?? false,
    paused: isPaused(object),
    conditions: conditions.map(({ lastTransitionTime: since, type, status, reason, message }) => {
      return { type, status, reason, message, since };
    }),
  };
}

export interface ObjectsServiceOptions {
  readonly type: ResourceType;
  readonly resource: Pick<Resource<KubeObject>, "patch">;
  readonly board: ReadBoard<ObjectView>;
}

interface ObjectRequest {
  readonly object?: commonV1.ObjectName | undefined;
}

/** `evenkeel.common.v1.Objects`, the same for every service. */
export function objectsService({ type, resource, board }: ObjectsServiceOptions): Served<commonV1.ObjectsDefinition> {
  const { methods, access } = pausing<ObjectRequest>({
    type,
    resource,
    asked: ({ object }) => ({ namespace: object?.namespace ?? "", name: object?.name ?? "" }),
    known: (method, { object }) => {
      const named = objectNamed(method, "object", object, type.namespaced);
      if (!board.get(nameKey(named))) throw new rpcErrors.NotFound({ what: `${type.kind} ${nameKey(named)}` });
      return named;
    },
  });
  return {
    definition: commonV1.ObjectsDefinition,
    implementation: {
      get: (request) => {
        const keys = board.keys().filter(objectFilter("Get", request, type.namespaced));
        return Promise.resolve({ objects: keys.flatMap((key) => board.get(key) ?? []) });
      },
      watch: (request, { signal }) =>
        watchBoard(board, {
          selects: objectFilter("Watch", request, type.namespaced),
          event: (value) => ({ $case: "object", value }) as const,
          signal,
        }),
      ...methods,
    },
    access,
    namesObjects: true,
  };
}
