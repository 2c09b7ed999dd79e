import type { Service } from "@evenkeel/kube";
import { expect, test } from "@jest/globals";
import type { ResolverEndpoint } from "../observe/resolver-endpoints.ts";
import { stored } from "../testing/shown-service.ts";
import type { PathInput } from "./path-plan.ts";
import { repointPaths } from "./repoint-paths.ts";

const SERVICE: Service = { metadata: { namespace: "shop", name: "web" } };
const RESOLVER: ResolverEndpoint = { family: "IPv4", address: "10.0.0.2", replica: "b" };

interface World {
  /** The object that manages the Service; undefined: none is understood. */
  readonly owner?: string;
  readonly resolvers?: readonly ResolverEndpoint[];
  readonly original?: string;
}

/** What is done for the object `mine`, whose status names the Service. */
async function repointed({ owner, resolvers = [RESOLVER], original }: World): Promise<readonly string[]> {
  const done: string[] = [];
  const named = (name: string) =>
    stored(name, { metadata: { namespace: "shop", name, uid: name }, status: { service: "web" } });
  const repoint = repointPaths({
    objects: { get: () => named("mine") },
    bindings: { ownerOf: () => (owner === undefined ? undefined : named(owner)) },
    services: { get: () => SERVICE },
    path: {
      repoint: ({ resolvers: to }: PathInput) => {
        done.push(`repoint to ${to.map(({ address }) => address).join()}`);
        return Promise.resolve();
      },
      close: () => {
        done.push("close");
        return Promise.resolve();
      },
    },
    resolvers: () => resolvers,
    terminatingResolvers: () => new Set<string>(),
    original: () => Promise.resolve(original),
  });
  await repoint({ namespace: "shop", name: "mine" }, { signal: new AbortController().signal } as never);
  return done;
}

test("the path follows the replicas of the resolver, and is closed if there is none", async () => {
  expect(await repointed({ owner: "mine" })).toEqual(["repoint to 10.0.0.2"]);
  expect(await repointed({ owner: "mine", resolvers: [] })).toEqual(["close"]);
});

test("the path of an object that is no longer understood follows them too: its requests still wait", async () => {
  expect(await repointed({})).toEqual(["repoint to 10.0.0.2"]);
});

test("the path of a Service that another object manages, or with the original, is not touched", async () => {
  expect(await repointed({ owner: "older" })).toEqual([]);
  expect(await repointed({ owner: "mine", original: "its operator leads" })).toEqual([]);
});
