import { setTimeout as pause } from "node:timers/promises";
import { apply, kubectl, TEST_TIMEOUT_MS } from "@evenkeel/e2e";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { arrivalIn } from "./ask.ts";
import { elastiService, NAMESPACE, service, workload } from "./manifests.ts";
import { RouteGateway } from "./route-gateway.ts";
import { grantIn, httpRoute, type Route, ROUTE_KINDS, type RouteKind } from "./route-manifests.ts";
import { RouteWatch } from "./route-watch.ts";
import { CHART, type Cluster, type Site, Traffic } from "./site.ts";

const IN = ["-n", NAMESPACE] as const;

/** What a route may take to lead to the resolver again after somebody put it back: it is looked at every two seconds. */
const SWITCHED_AGAIN_MS = 4000;

/** More than the time in which an idle service is put to sleep here: the quiet that is asked for, and the resolver's time in the path. */
const SLEEPS_WITHIN_MS = 4000;

/** The ways in which GitOps tools write what they have in their repository. */
const WAYS = [["apply"], ["apply", "--server-side", "--force-conflicts"]] as const;
type ApplyWay = (typeof WAYS)[number];

export interface RoutePlace {
  readonly cluster: Cluster;
  readonly site: Site;
  /** Namespace of the resolver's release. */
  readonly home: string;
}

/** Routes of a mesh and of a gateway that lead to the resolver during sleep, with a resolver that is ready in a place where tests run. */
export function routeCases(place: () => RoutePlace): void {
  test.concurrent(
    "without a ReferenceGrant an HTTPRoute is not switched and the service behind it is not put to sleep, and with one it is",
    async () => {
      const name = "ungranted";
      const { site, cluster, home } = place();
      const scene = await Scene.set(place(), httpRoute, name);
      scene.traffic.rate = 0;
      await site.hasReason(name, "Failed");
      const { conditions } = (await site.get(name)).status ?? {};
      const { message } = conditions?.find(({ type }) => type === "Ready") ?? {};
      for (const value of ["ReferenceGrant", home, NAMESPACE, CHART]) expect(message).toContain(value);
      await pause(SLEEPS_WITHIN_MS);
      expect(await site.replicas(name)).toBe(1);
      expect(await scene.route()).toEqual(scene.made);
      await apply(cluster, grantIn(home));
      await site.asleep(name);
      expect((await scene.route()).spec).toEqual(httpRoute.switched(name, home));
    },
    TEST_TIMEOUT_MS,
  );

  describe("a route of the kind", () => {
    const prefixOf = ({ type }: RouteKind) => type.toLowerCase();
    beforeAll(async () => {
      await apply(place().cluster, grantIn(place().home));
    }, TEST_TIMEOUT_MS);

    test.concurrent.each(ROUTE_KINDS)(
      "$type redirects to the resolver while its service sleeps, is restored when it is awake, and is otherwise as its user wrote it",
      async (kind) => {
        const name = `${prefixOf(kind)}-switched`;
        const scene = await Scene.set(place(), kind, name);
        expect(await scene.way()).toMatchObject({ namespace: NAMESPACE, service: name, port: 80 });

        await scene.sleep();
        expect((await scene.route()).spec).toEqual(kind.switched(name, place().home));
        expect(await scene.way()).toMatchObject({ namespace: place().home, service: CHART, port: 8012 });
        const { status } = await place().site.get(name);
        expect(status?.route).toEqual({ type: kind.type, name });

        await scene.isWokenByRoute("/by-route");
        await scene.wake();
        expect(await scene.route()).toEqual(scene.made);
        expect(await scene.way()).toMatchObject({ namespace: NAMESPACE, service: name });
        await scene.isAnsweredByRoute("/after");
      },
      TEST_TIMEOUT_MS,
    );

    test.concurrent.each(ROUTE_KINDS)(
      "$type is restored when its ElastiService is deleted during sleep",
      async (kind) => {
        const name = `${prefixOf(kind)}-deleted`;
        const scene = await Scene.set(place(), kind, name);
        await scene.sleep();
        await kubectl(place().cluster, ["delete", "elastiservice", name, ...IN, "--timeout=60s"]);
        expect(await scene.route()).toEqual(scene.made);
        expect(await place().site.replicas(name)).toBe(1);
        await scene.isAnsweredByRoute("/after-deletion");
      },
      TEST_TIMEOUT_MS,
    );

    test.concurrent.each(
      ROUTE_KINDS.flatMap((kind) => WAYS.map((way) => ({ kind, way, command: `kubectl ${way.join(" ")}` }))),
    )(
      "$kind.type that $command restores during sleep, with all other manifests, is switched again, and its service sleeps until a request comes",
      async ({ kind, way }) => {
        const name = `${prefixOf(kind)}-again-${way.length}`;
        const { site } = place();
        const scene = await Scene.set(place(), kind, name, way);
        await scene.sleep();

        await using watch = await RouteWatch.start(site.kube, kind, name);
        const given = await scene.applyAgain();
        await site.until("the route to lead to the resolver again", () => Promise.resolve(watch.whyNotAgain(name)));
        const took = watch.millisecondsUntilAgain(name);
        process.stderr.write(`  ${kind.type}, ${given}: led to the resolver again after ${Math.round(took)} ms\n`);
        expect(took).toBeLessThan(SWITCHED_AGAIN_MS);
        expect((await scene.route()).spec).toEqual(kind.switched(name, place().home));
        expect((await site.get(name)).status).toMatchObject({ state: "Zero", replicas: 0 });
        expect(await site.replicas(name)).toBe(0);
        expect(await site.podNames(name)).toEqual([]);

        await scene.isWokenByRoute("/after-again");
        await scene.wake();
        expect((await scene.route()).spec).toEqual(scene.made.spec);

        // A request that comes by the route before it is switched again finds the resolver by the Service's endpoints.
        await scene.sleep();
        await scene.isWokenByRoute("/before-again", await scene.wayOnceGivenBack());
        await scene.wake();
        expect((await scene.route()).spec).toEqual(scene.made.spec);
      },
      2 * TEST_TIMEOUT_MS,
    );
  });
}

/** What users write of a route. */
interface Written {
  readonly spec: Route["spec"];
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
}

/** A workload that nobody asks, its Service, its route and an ElastiService that names it, as a user's repository has them. */
class Scene {
  readonly traffic: Traffic;
  /** The route as it was when it was made. */
  made: Written = { spec: {}, labels: undefined, annotations: undefined };
  readonly #place: RoutePlace;
  readonly #kind: RouteKind;
  readonly #name: string;
  readonly #way: ApplyWay;
  readonly #gateway: RouteGateway;
  readonly #manifests: readonly object[];

  private constructor(place: RoutePlace, kind: RouteKind, name: string, way: ApplyWay) {
    this.#place = place;
    this.#kind = kind;
    this.#name = name;
    this.#way = way;
    this.#gateway = new RouteGateway(place.site.kube);
    this.traffic = new Traffic(place.site.prometheus, name);
    const change = { triggers: this.traffic.triggers, switch: { type: kind.type, name } };
    const { spec, ...rest } = workload("Deployment", name);
    // Who has something else scale leaves the replicas out of the manifest.
    const withoutReplicas = { ...rest, spec: { ...spec, replicas: undefined } };
    this.#manifests = [withoutReplicas, service(name), elastiService(name, change), kind.manifest(name)];
  }

  /** All of it, applied and looked after, with a pod that serves. */
  static async set(place: RoutePlace, kind: RouteKind, name: string, way: ApplyWay = ["apply"]): Promise<Scene> {
    const scene = new Scene(place, kind, name, way);
    await scene.#apply();
    await place.site.inState(name, "Serve");
    scene.made = await scene.route();
    return scene;
  }

  async route(): Promise<Written> {
    const object = await this.#place.site.kube
      .resource(this.#kind.resource)
      .get({ namespace: NAMESPACE, name: this.#name });
    const { labels, annotations } = object.metadata;
    return { spec: object.spec, labels, annotations };
  }

  way() {
    return this.#gateway.way(this.#kind, this.#name, "/");
  }

  async sleep(): Promise<void> {
    this.traffic.rate = 0;
    await this.#place.site.asleep(this.#name);
  }

  /** Waits until a service that was woken is served by its pods alone. */
  async wake(): Promise<void> {
    this.traffic.rate = 5;
    await this.#place.site.outOfPath(this.#name);
  }

  /** Sends a request by the route, or by a way that it had, to the service that sleeps: the one pod answers, and got it once. */
  async isWokenByRoute(path: string, way?: Awaited<ReturnType<Scene["way"]>>): Promise<void> {
    expect(await this.#place.site.replicas(this.#name)).toBe(0);
    const answer = await this.#gateway.send(way ?? (await this.way()), `${this.#name}.example.com`, this.#own(path));
    expect(answer.headers).toMatchObject({ "x-evenkeel-cold-start": "true" });
    await this.#isFromPod(answer, path);
  }

  async isAnsweredByRoute(path: string): Promise<void> {
    const answer = await this.#gateway.ask(this.#kind, this.#name, this.#own(path));
    expect(answer.headers).not.toHaveProperty("x-evenkeel-cold-start");
    await this.#isFromPod(answer, path);
  }

  /** Applies everything once more, as it was at first. Gives the command. */
  async applyAgain(): Promise<string> {
    await this.#apply();
    return `kubectl ${this.#way.join(" ")}`;
  }

  /** Applies the manifests again until the route is read before it is switched again, and gives where it led then. */
  async wayOnceGivenBack() {
    for (let attempt = 0; attempt < 10; attempt++) {
      await this.#apply();
      const way = await this.way();
      if (way.service === this.#name) return way;
    }
    throw new Error("the route was switched again each time before it was read");
  }

  async #apply(): Promise<void> {
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: this.#manifests });
    await kubectl(this.#place.cluster, [...this.#way, "-f", "-"], { input });
  }

  async #isFromPod(answer: Parameters<typeof arrivalIn>[0], path: string): Promise<void> {
    const { site } = this.#place;
    const arrival = arrivalIn(answer);
    expect(await site.podsOf(this.#name)).toEqual([arrival.pod]);
    expect(arrival.headers).toMatchObject({ host: `${this.#name}.example.com`, "x-team": "shop" });
    expect(site.pods.arrivalsAt(this.#own(path))).toHaveLength(1);
  }

  #own(path: string): string {
    return `${path}-${this.#name}`;
  }
}
