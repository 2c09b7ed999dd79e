import { type KubeObject, PAUSED, type Resource, type ResourceType } from "@evenkeel/kube";
import type { CallContext, Permission } from "@evenkeel/rpc";

interface Named {
  readonly namespace: string;
  readonly name: string;
}

export interface PausingOptions<Request> {
  readonly type: Pick<ResourceType, "group" | "plural">;
  readonly resource: Pick<Resource<KubeObject>, "patch">;
  /**
   * The object whose rights a caller needs. It never throws: whether an object exists is for callers with that right.
   * Empty text if the request does not say.
   */
  readonly asked: (request: Request) => Named;
  /** The object that is annotated. Throws EK_RPC_BAD_REQUEST, or EK_RPC_NOT_FOUND if there is none. */
  readonly known: (method: string, request: Request) => Named;
}

export interface Pausing<Request> {
  readonly methods: {
    readonly pause: (request: Request, context: CallContext) => Promise<object>;
    readonly resume: (request: Request, context: CallContext) => Promise<object>;
  };
  readonly access: {
    readonly pause: (request: Request) => Permission;
    readonly resume: (request: Request) => Permission;
  };
}

/** The methods Pause and Resume. A caller needs the right to patch the object. */
export function pausing<Request>({ type, resource, asked, known }: PausingOptions<Request>): Pausing<Request> {
  const annotate = async ({ namespace, name }: Named, value: "true" | null, signal: AbortSignal) => {
    const body = { metadata: { annotations: { [PAUSED]: value } } };
    await resource.patch({ namespace, name }, { type: "merge", body }, { signal });
    return {};
  };
  const mayPatch = (request: Request): Permission => {
    const { namespace, name } = asked(request);
    return { verb: "patch", object: { group: type.group, resource: type.plural, namespace, name } };
  };
  return {
    methods: {
      pause: async (request, { signal }) => annotate(known("Pause", request), "true", signal),
      resume: async (request, { signal }) => annotate(known("Resume", request), null, signal),
    },
    access: { pause: mayPatch, resume: mayPatch },
  };
}
