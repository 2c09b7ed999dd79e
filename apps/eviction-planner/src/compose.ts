import { configMaps, PAUSED, specChanges, StatusWriter } from "@evenkeel/kube";
import { ObjectBoard, objectsService, objectView, operatorFrame } from "@evenkeel/operator";
import type { Environment, Service } from "@evenkeel/runtime";
import type { evictionPlanner } from "./definition.ts";
import { Observer } from "./observe/observer.ts";
import { LevelReconciler } from "./reconciler.ts";
import { evictionPlanners } from "./eviction-planner-resource.ts";

type EvictionPlannerService = Service<
  (typeof evictionPlanner)["settings"],
  (typeof evictionPlanner)["metrics"],
  (typeof evictionPlanner)["decider"]
>;

/** What eviction-planner consists of, in the order in which it starts. `main` is the address of the program that runs it. */
export function composeEvictionPlanner(service: EvictionPlannerService, env: Environment, main: string): void {
  const { settings, clock, metrics, decisions } = service;
  const frame = operatorFrame(service, { env, main });
  const resource = frame.kube.resource(evictionPlanners);
  const levels = frame.kube.resource(configMaps);

  // The world.
  const store = frame.reflect(evictionPlanners);
  const observer = new Observer({ configMaps: levels, clock });
  frame.announce({ isWarning: ({ reason }) => reason === "NoData" });
  const board = new ObjectBoard({ store, view: objectView });

  // The loop, on the leader alone.
  frame.reconcile({
    name: "levels",
    type: evictionPlanners,
    store,
    sources: [specChanges(store, [PAUSED])],
    board,
    reconciler: new LevelReconciler({
      observer,
      configMaps: levels,
      statuses: new StatusWriter(resource),
      decisions,
      board,
      metrics,
      clock,
      interval: settings.interval,
    }),
  });

  // The servers.
  frame.serve(objectsService({ type: evictionPlanners, resource, board }));
  frame.open();
}
