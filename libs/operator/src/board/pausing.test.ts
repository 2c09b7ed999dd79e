import type { KubeObject, ObjectName, Patch } from "@evenkeel/kube";
import { type CallContext, rpcErrors } from "@evenkeel/rpc";
import { expect, test } from "@jest/globals";
import { pausing } from "./pausing.ts";

interface Request {
  readonly name: string;
}

function build() {
  const patches: [ObjectName, Patch][] = [];
  const { methods, access } = pausing<Request>({
    type: { group: "example.com", plural: "tides" },
    resource: {
      patch: (object, patch) => {
        patches.push([object, patch]);
        return Promise.resolve<KubeObject>({ metadata: {} });
      },
    },
    asked: ({ name }) => ({ namespace: "shop", name }),
    known: (_method, { name }) => {
      if (name === "nobody") throw new rpcErrors.NotFound({ what: name });
      return { namespace: "shop", name: `${name} itself` };
    },
  });
  return { methods, access, patches };
}

const context = { signal: new AbortController().signal } as CallContext;

test.each([
  ["pause", "true"],
  ["resume", null],
] as const)("%s sets the annotation of the object to %s", async (method, value) => {
  const { methods, patches } = build();
  await expect(methods[method]({ name: "a" }, context)).resolves.toEqual({});
  const body = { metadata: { annotations: { "evenkeel.io/paused": value } } };
  expect(patches).toEqual([
    [
      { namespace: "shop", name: "a itself" },
      { type: "merge", body },
    ],
  ]);
});

test.each(["pause", "resume"] as const)("%s needs the right to patch the object that is asked for", (method) => {
  const permission = {
    verb: "patch",
    object: { group: "example.com", resource: "tides", namespace: "shop", name: "nobody" },
  };
  expect(build().access[method]({ name: "nobody" })).toEqual(permission);
});

test("an object that is not there is not patched", async () => {
  const { methods, patches } = build();
  await expect(methods.pause({ name: "nobody" }, context)).rejects.toMatchObject({
    code: "EK_RPC_NOT_FOUND",
  });
  expect(patches).toEqual([]);
});
