import { expect, test } from "@jest/globals";
import { node, shape } from "../testing/shapes.ts";
import { Placement } from "../placement.ts";

const port = (hostPort: number, more: object = {}) => shape({}, { containers: [{ ports: [{ hostPort, ...more }] }] });

test.each([
  ["the same port", port(80), true],
  ["another port", port(81), false],
  ["another protocol", port(80, { protocol: "UDP" }), false],
  ["one address, where any is taken", port(80, { hostIP: "10.0.0.1" }), true],
])("%s of a node is taken", (_, wanted, taken) => {
  const model = new Placement([node("a")], [port(80), wanted]);
  model.add(0, 0);
  expect(model.whyNot(1, 0)).toBe(taken ? "HostPorts" : undefined);
  model.terminate(0, 0);
  expect(model.whyNot(1, 0)).toBe(taken ? "HostPorts" : undefined);
  model.removeTerminated(0, 0);
  expect(model.whyNot(1, 0)).toBeUndefined();
});

test("two addresses of a node have a port each", () => {
  const model = new Placement(
    [node("a")],
    [port(80, { hostIP: "10.0.0.1" }), port(80, { hostIP: "10.0.0.2" }), port(80)],
  );
  model.add(0, 0);
  expect([model.whyNot(1, 0), model.whyNot(2, 0)]).toEqual([undefined, "HostPorts"]);
});
