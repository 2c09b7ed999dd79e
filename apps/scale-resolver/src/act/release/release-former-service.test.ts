import type { ObjectContext } from "@evenkeel/operator";
import { describe, expect, test } from "@jest/globals";
import type { StoredElastiService } from "../../elasti-service-resource.ts";
import { PAUSED } from "@evenkeel/kube";
import type { ElastiServiceStatus } from "@evenkeel/api";
import { checkout } from "../../testing/quiet-service.ts";
import { ReleaseFormerService } from "./release-former-service.ts";
import type { ReleaseService } from "./release-service.ts";
import type { PathSlices } from "../path-slices.ts";

describe("an ElastiService that is pointed at another Service", () => {
  const context = { signal: new AbortController().signal } as unknown as ObjectContext;
  const target = { apiVersion: "apps/v1", kind: "Deployment", name: "basket" };
  const pointed = (
    status: ElastiServiceStatus,
    annotations: Readonly<Record<string, string>> = {},
  ): StoredElastiService => ({
    apiVersion: "elasti.truefoundry.com/v1alpha1",
    kind: "ElastiService",
    metadata: { namespace: "shop", name: "checkout", annotations },
    spec: {},
    status,
  });
  const asleep: ElastiServiceStatus = { service: "basket", scaleTargetRef: target, pausedScaledObject: "basket" };

  const releaseFormerService = (isGiven: boolean, owner?: StoredElastiService) => {
    const done: unknown[] = [];
    const given = new ReleaseFormerService({
      bindings: { ownerOf: () => owner },
      releaseService: {
        release: (_: unknown, { service }: { readonly service: string }) => {
          done.push(`release ${service}`);
          return Promise.resolve(isGiven);
        },
      } as unknown as ReleaseService,
      path: {
        leave: (_: unknown, service: string) => {
          done.push(`leave ${service}`);
          return Promise.resolve();
        },
      } as unknown as PathSlices,
      statuses: {
        write: (_, status) => {
          done.push(status);
          return Promise.resolve();
        },
      },
      served: () => undefined,
      forget: (key) => done.push(`forget ${key}`),
    });
    return { done, take: (object: StoredElastiService) => given.forAnother(object, checkout, context) };
  };

  test("has nothing to release if it is the same", async () => {
    const { done, take } = releaseFormerService(true);
    expect(await take(pointed({ service: "checkout" }))).toBe("released");
    expect(await take(pointed({}))).toBe("released");
    expect(done).toEqual([]);
  });

  test("releases the old one, and writes only the fields of its status that change", async () => {
    const { done, take } = releaseFormerService(true);
    expect(await take(pointed(asleep))).toBe("inProgress");
    const status = { service: "checkout", ports: [], pausedScaledObject: null };
    expect(done).toEqual(["release basket", "forget shop/checkout", status]);
  });

  test("restores the path of the old one if only its name is known, unless another object manages it", async () => {
    const status = { service: "checkout", ports: [], pausedScaledObject: null };
    const { done, take } = releaseFormerService(true);
    expect(await take(pointed({ service: "basket" }))).toBe("inProgress");
    expect(done).toEqual(["leave basket", "forget shop/checkout", status]);
    const beside = releaseFormerService(true, pointed({ service: "basket" }));
    expect(await beside.take(pointed({ service: "basket" }))).toBe("inProgress");
    expect(beside.done).toEqual(["forget shop/checkout", status]);
  });

  test("is looked at again soon while no pod of the old one is ready", async () => {
    const { done, take } = releaseFormerService(false);
    expect(await take(pointed(asleep))).toBe("inProgress");
    expect(done).toEqual(["release basket"]);
  });

  test("waits while it is paused", async () => {
    const { done, take } = releaseFormerService(true);
    expect(await take(pointed(asleep, { [PAUSED]: "true" }))).toBe("paused");
    expect(done).toEqual([]);
  });
});
