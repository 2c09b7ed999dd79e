import { apply, kubectl, TEST_TIMEOUT_MS } from "@evenkeel/e2e";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { arrivalIn } from "./ask.ts";
import { elastiService, NAMESPACE, service, workload } from "./manifests.ts";
import { RouteGateway } from "./route-gateway.ts";
import { grantIn, httpRoute, type Route, ROUTE_KINDS, type RouteKind } from "./route-manifests.ts";
import { RouteWatch } from "./route-watch.ts";
import { CHART, type Cluster, type Site, Traffic } from "./site.ts";

const IN = ["-n", NAMESPACE] as const;

/** Maximum milliseconds until a restored route is redirected again: it is checked every two seconds. */
const SWITCHED_AGAIN_MS = 4000;

/** How GitOps tools apply manifests. */
const APPLY_ARGS = [["apply"], ["apply", "--server-side", "--force-conflicts"]] as const;
type ApplyArgs = (typeof APPLY_ARGS)[number];

export interface RoutePlace {
  readonly cluster: Cluster;
  readonly site: Site;
  /** Namespace of the resolver's release. */
  readonly home: string;
}

/** Routes of a mesh and of a gateway that are redirected to the resolver during sleep. */
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
      // A service that became idle later sleeps by now.
      const other = new Traffic(site.prometheus, "ungranted-other");
      await site.given("ungranted-other", { triggers: other.triggers });
      other.rate = 0;
      await site.asleep("ungranted-other");
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
        expect(await scene.destination()).toMatchObject({ namespace: NAMESPACE, service: name, port: 80 });

        await scene.sleep();
        expect((await scene.route()).spec).toEqual(kind.switched(name, place().home));
        expect(await scene.destination()).toMatchObject({ namespace: place().home, service: CHART, port: 8012 });
        const { status } = await place().site.get(name);
        expect(status?.route).toEqual({ type: kind.type, name });

        await scene.isWokenByRoute("/by-route");
        await scene.wake();
        expect(await scene.route()).toEqual(scene.made);
        expect(await scene.destination()).toMatchObject({ namespace: NAMESPACE, service: name });
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
      ROUTE_KINDS.flatMap((kind) => APPLY_ARGS.map((args) => ({ kind, args, command: `kubectl ${args.join(" ")}` }))),
    )(
      "$kind.type that $command restores during sleep, with all other manifests, is switched again, and its service sleeps until a request comes",
      async ({ kind, args }) => {
        const name = `${prefixOf(kind)}-again-${args.length}`;
        const { site } = place();
        const scene = await Scene.set(place(), kind, name, args);
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

        // A request through the route before it is redirected again reaches the resolver by the Service's endpoints.
        await scene.sleep();
        await scene.isWokenByRoute("/before-again", await scene.destinationOnceRestored());
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

/**
 * A workload without requests, its Service, its route and an ElastiService that names the route, as in a user's
 * repository.
 */
class Scene {
  readonly traffic: Traffic;
  /** The route as it was when it was made. */
  made: Written = { spec: {}, labels: undefined, annotations: undefined };
  readonly #place: RoutePlace;
  readonly #kind: RouteKind;
  readonly #name: string;
  readonly #args: ApplyArgs;
  readonly #gateway: RouteGateway;
  readonly #manifests: readonly object[];

  private constructor(place: RoutePlace, kind: RouteKind, name: string, args: ApplyArgs) {
    this.#place = place;
    this.#kind = kind;
    this.#name = name;
    this.#args = args;
    this.#gateway = new RouteGateway(place.site.kube);
    this.traffic = new Traffic(place.site.prometheus, name);
    const change = { triggers: this.traffic.triggers, switch: { type: kind.type, name } };
    const { spec, ...rest } = workload("Deployment", name);
    // A manifest of an autoscaled workload has no replicas.
    const withoutReplicas = { ...rest, spec: { ...spec, replicas: undefined } };
    this.#manifests = [withoutReplicas, service(name), elastiService(name, change), kind.manifest(name)];
  }

  /** All of it, applied and managed, with a ready pod. */
  static async set(place: RoutePlace, kind: RouteKind, name: string, args: ApplyArgs = ["apply"]): Promise<Scene> {
    const scene = new Scene(place, kind, name, args);
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

  destination() {
    return this.#gateway.destination(this.#kind, this.#name, "/");
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

  /**
   * Sends a request through the route, or to a former destination, to the sleeping service: its only pod responds, and
   * got it once.
   */
  async isWokenByRoute(path: string, destination?: Awaited<ReturnType<Scene["destination"]>>): Promise<void> {
    expect(await this.#place.site.replicas(this.#name)).toBe(0);
    const answer = await this.#gateway.send(
      destination ?? (await this.destination()),
      `${this.#name}.example.com`,
      this.#own(path),
    );
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
    return `kubectl ${this.#args.join(" ")}`;
  }

  /**
   * Applies the manifests again until the route is read before it is redirected again, and returns its destination at
   * that time.
   */
  async destinationOnceRestored() {
    for (let attempt = 0; attempt < 10; attempt++) {
      await this.#apply();
      const destination = await this.destination();
      if (destination.service === this.#name) return destination;
    }
    throw new Error("the route was switched again each time before it was read");
  }

  async #apply(): Promise<void> {
    const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: this.#manifests });
    await kubectl(this.#place.cluster, [...this.#args, "-f", "-"], { input });
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
