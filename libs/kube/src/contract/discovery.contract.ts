import { describe, expect, test } from "@jest/globals";
import * as errors from "../errors.ts";
import { configMaps } from "../objects/resource-types.ts";
import { refused, type World } from "./world.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

interface Group {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly {
    readonly version: string;
    readonly freshness: string;
    readonly resources: readonly Readonly<Record<string, unknown>>[];
  }[];
}

/** What the server says that it serves. */
export function discoveryContract(world: World): void {
  describe("discovery", () => {
    test("reports the version", async () => {
      const { major, minor, text } = await world.admin.version();
      expect(major).toBe(1);
      expect(minor).toBeGreaterThanOrEqual(31);
      expect(text).toMatch(/^v1\.\d+/);
    });

    test("reports which types are served", async () => {
      expect(await world.admin.serves(configMaps)).toBe(true);
      expect(await world.admin.serves({ ...configMaps, plural: "nothings" })).toBe(false);
      expect(await world.admin.serves({ ...configMaps, group: "nobody.example.com" })).toBe(false);
    });

    test("has NotFound for an unknown path", async () => {
      await refused(world.admin.request({ path: "/apis/nobody.example.com" }), errors.NotFound);
    });

    test("gives all groups in one document with an ETag", async () => {
      const { headers, body } = await world.admin.stream({ path: "/apis", headers: { accept: AGGREGATED } });
      const document = JSON.parse((await body.toArray()).join("")) as { kind: string; items: readonly Group[] };
      expect(headers["content-type"]).toContain("as=APIGroupDiscoveryList");
      expect(headers["etag"]).toMatch(/^"\w+"$/);
      expect(document.kind).toBe("APIGroupDiscoveryList");
      const apps = document.items.find(({ metadata }) => metadata.name === "apps");
      const [version] = apps?.versions ?? [];
      expect([version?.version, version?.freshness]).toEqual(["v1", "Current"]);
      // What is of the document's own group and version does not repeat them.
      const kind = { group: "", version: "", kind: "Deployment" };
      const scale = { group: "autoscaling", version: "v1", kind: "Scale" };
      expect(version?.resources.find(({ resource }) => resource === "deployments")).toMatchObject({
        ...{ responseKind: kind, scope: "Namespaced", singularResource: "deployment", shortNames: ["deploy"] },
        verbs: expect.arrayContaining(["create", "list", "watch"]),
        subresources: expect.arrayContaining([
          expect.objectContaining({ subresource: "status", responseKind: kind }),
          expect.objectContaining({ subresource: "scale", responseKind: scale }),
        ]),
      });
    });

    test("has the core group in a document of its own", async () => {
      const { items } = (await world.admin.request({ path: "/api", headers: { accept: AGGREGATED } })) as {
        items: readonly Group[];
      };
      expect(items.map(({ metadata }) => metadata.name ?? "")).toEqual([""]);
      const resources = items.flatMap(({ versions }) => versions.flatMap((version) => version.resources));
      expect(resources.find(({ resource }) => resource === "nodes")).toMatchObject({
        ...{ responseKind: { group: "", version: "", kind: "Node" }, scope: "Cluster" },
      });
    });

    test("answers 304 to who has the document already", async () => {
      const first = await world.admin.stream({ path: "/apis", headers: { accept: AGGREGATED } });
      first.body.resume();
      const again = { accept: AGGREGATED, "if-none-match": String(first.headers["etag"]) };
      await expect(world.admin.stream({ path: "/apis", headers: again })).rejects.toMatchObject({ status: 304 });
    });
  });
}
