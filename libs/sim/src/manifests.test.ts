import { globSync, readFileSync } from "node:fs";
import { kinds, parseRebalance } from "@evenkeel/api";
import { badManifests, goodManifests, type Manifest } from "@evenkeel/api/manifests";
import { rebalanceSpecs } from "@evenkeel/api/rebalance-specs";
import { eventually } from "@evenkeel/runtime/testing";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type ApiServer, startApiServer } from "./api-server.ts";
import type { Fields } from "./json.ts";

const CRDS = new URL("../../../charts/*/files/crds/*.yaml", import.meta.url);

let server: ApiServer;

beforeAll(async () => {
  server = await startApiServer({ users: [{ name: "admin", groups: ["system:masters"], token: "token" }] });
  for (const file of globSync(CRDS.pathname)) server.load(readFileSync(file, "utf8"));
  await eventually(async () => (await send("GET", pathOf(goodManifests[0]))).code === 200);
});

afterAll(() => server.stop());

async function send(method: string, path: string, body?: object): Promise<{ code: number; body: Fields }> {
  const headers = { authorization: "Bearer token", "content-type": "application/json" };
  const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const answer = await fetch(`${server.url}${path}`, init);
  return { code: answer.status, body: (await answer.json()) as Fields };
}

function pathOf(manifest: Manifest | undefined): string {
  const kind = kinds.find((one) => one.kind === manifest?.kind);
  if (kind === undefined) throw new Error(`no kind ${manifest?.kind ?? ""}`);
  const within = kind.scope === "Namespaced" ? "/namespaces/default" : "";
  return `/apis/${kind.group}/${kind.version}${within}/${kind.plural}`;
}

/** A manifest in the namespace that its path names. */
function placed({ metadata: { name }, ...manifest }: Manifest, as = name): Manifest {
  return { ...manifest, metadata: { name: as } };
}

describe("the embedded API server takes what the real one takes", () => {
  test.each(goodManifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest] as const))(
    "%s, unchanged",
    async (_, manifest) => {
      const { code, body } = await send("POST", `${pathOf(manifest)}?fieldValidation=Strict`, placed(manifest));
      expect({ code, message: body["message"] }).toEqual({ code: 201, message: undefined });
      expect(body["spec"]).toMatchObject(manifest["spec"] as Fields);
    },
  );
});

describe("the embedded API server refuses what the real one refuses", () => {
  test.each(badManifests.map((bad) => [`${bad.kind}: ${bad.title} (${bad.field})`, bad] as const))(
    "%s",
    async (_, bad) => {
      const object = placed(bad.manifest, "bad");
      const options = "fieldValidation=Strict&dryRun=All";
      const write = async (): Promise<{ code: number; body: Fields }> => {
        if (bad.subresource === undefined) return send("POST", `${pathOf(object)}?${options}`, object);
        const created = await send("POST", pathOf(object), {
          ...placed(bad.manifest),
          metadata: { generateName: "bad-" },
          status: undefined,
        });
        const { name } = created.body["metadata"] as { name: string };
        return send("PUT", `${pathOf(object)}/${name}/status?${options}`, {
          ...created.body,
          status: object["status"],
        });
      };
      const { code, body } = await write();
      expect({ code, message: body["message"] }).toEqual({ code: 422, message: expect.stringContaining(bad.field) });
    },
  );
});

test("a Rebalance is refused by the embedded API server if and only if the service would refuse it", async () => {
  const seen = { taken: 0, refused: 0 };
  const rebalance = { apiVersion: "rebalancer.ch1aki.github.io/v1", kind: "Rebalance", metadata: { name: "a" } };
  const property = fc.asyncProperty(rebalanceSpecs, async (spec) => {
    const parsed = parseRebalance({ ...rebalance, spec });
    seen[parsed.ok ? "taken" : "refused"] += 1;
    const { code, body } = await send("POST", `${pathOf(rebalance)}?dryRun=All`, { ...rebalance, spec });
    // Faults by themselves hide those across fields, so that the API server names some of the service's fields and not
    // all.
    const fields = parsed.ok ? [""] : parsed.errors.map((line) => line.slice(0, line.indexOf(": ")));
    const message = typeof body["message"] === "string" ? body["message"] : "";
    expect({ code, named: fields.some((field) => message.includes(field)), message }).toEqual({
      code: parsed.ok ? 201 : 422,
      named: true,
      message,
    });
  });
  await fc.assert(property, { numRuns: 200, interruptAfterTimeLimit: 15_000 });
  expect(seen.taken).toBeGreaterThan(5);
  expect(seen.refused).toBeGreaterThan(5);
});
