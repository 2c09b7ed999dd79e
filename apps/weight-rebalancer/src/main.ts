import { main } from "@evenkeel/runtime";
import { weightRebalancer } from "./definition.ts";
import { observe } from "./observe/observe.ts";

await main(weightRebalancer, process, (service) => {
  const { settings, metrics, decisions, clock } = service;

  service.leadEvery("level", settings.interval, () => {
    metrics.lastLook.set({}, clock.now() / 1000);
    decisions.decide(observe(clock.now()));
    return Promise.resolve();
  });
});
