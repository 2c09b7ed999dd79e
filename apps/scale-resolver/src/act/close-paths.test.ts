import type { ElastiServiceStatus } from "@evenkeel/api";
import { nameOfKey, type Nulled } from "@evenkeel/kube";
import { FakeClock } from "@evenkeel/runtime/testing";
import { expect, test } from "@jest/globals";
import type { StoredElastiService } from "../elasti-service-resource.ts";
import { silence } from "../testing/loopback-rpc.ts";
import { NOON } from "../testing/quiet-service.ts";
import { stored } from "../testing/shown-service.ts";
import { ClosePaths } from "./close-paths.ts";
import type { PathUse } from "./path-plan.ts";

const service = (name: string) => ({ metadata: { namespace: "shop", name } });

/** The resolver redirects two services, stands by for one, and `unknown` has none of its endpoints. */
const USES: Readonly<Record<string, PathUse>> = { serving: "standby", asleep: "redirect", guarded: "redirect" };

/** A replica at 10.0.0.1. */
function setUp(resolvers: readonly string[], wait = 8000) {
  const done: string[] = [];
  const clock = new FakeClock(NOON);
  const stopping = new AbortController();
  const act = (what: string) => {
    done.push(what);
    return Promise.resolve();
  };
  const names = [...Object.keys(USES), "unknown"];
  const paths = new ClosePaths({
    objects: { values: () => names.map((name) => stored(name, { status: { service: name } })).values() },
    services: { get: (key: string) => service(nameOfKey(key).name) },
    pods: (key: string) => ({ ready: key === "shop/asleep" ? 0 : 1, leaving: 0, starting: 0 }),
    path: {
      useOf: (_: string, name: string) => USES[name],
      close: ({ metadata }: ReturnType<typeof service>) => act(`close ${metadata.name}`),
      leave: (_: string, name: string) => act(`leave ${name}`),
    },
    routes: { leave: (_: string, name: string) => act(`restore the route of ${name}`) },
    statuses: {
      write: ({ metadata }: StoredElastiService, { conditions }: Nulled<ElastiServiceStatus>) =>
        act(
          `status of ${metadata.name}: ${conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason}`).join()}`,
        ),
    },
    resolvers: () => resolvers.map((address) => ({ address })),
    podIps: ["10.0.0.1"],
    ...{ clock, log: silence, wait },
  });
  paths.start({ signal: stopping.signal, fail: () => undefined });
  return { paths, clock, done, sigterm: () => stopping.abort() };
}

const CLOSED = [
  ...["close asleep", "restore the route of guarded", "restore the route of serving"],
  ...["status of asleep: Ready=False NoResolver", "leave guarded", "leave serving"],
];

test("the last replica that stops closes the paths of services at zero and restores the others", async () => {
  const { paths, clock, done, sigterm } = setUp(["10.0.0.1"]);
  sigterm();
  await clock.advance(7999);
  expect(done).toEqual([]);
  await clock.advance(1);
  expect(done).toEqual(CLOSED);
  await paths.stop();
  expect(done).toEqual(CLOSED);
});

test("a replica that is no longer ready is the last too", async () => {
  const { clock, done, sigterm } = setUp([]);
  sigterm();
  await clock.advance(8000);
  expect(done).toEqual(CLOSED);
});

test("a replica that stops without a delay closes them at the end", async () => {
  const { paths, done, sigterm } = setUp([]);
  sigterm();
  await paths.stop();
  expect(done).toEqual(CLOSED);
});

test("while another replica is ready, the paths stay as they are", async () => {
  const { paths, clock, done, sigterm } = setUp(["10.0.0.1", "10.0.0.2"]);
  sigterm();
  await clock.advance(8000);
  await paths.stop();
  expect(done).toEqual([]);
});

test("a start that failed closes nothing", async () => {
  const { paths, done } = setUp([]);
  await paths.stop();
  expect(done).toEqual([]);
});
