/**
 * Random specs of a Rebalance, near the edges of its rules, to hold the service and an API server against each other.
 */
import fc from "fast-check";

/** One of `good`, and now and then one of `bad`. */
function mostly<Value>(good: readonly Value[], bad: readonly Value[]): fc.Arbitrary<Value> {
  return fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom(...good) },
    { weight: 1, arbitrary: fc.constantFrom(...bad) },
  );
}

const weight = mostly([0, 1, 12, 254, 255], [256, 300, 1_000_000]);
const timeSpan = mostly(["0s", "1m", "1h30m", "+.5s", "7µs", "0"], ["", "-1s", "1d", "60", "1m "]);
const period = mostly(["1m", "90s", "1.5h", "0h0.1s"], ["0s", "0", "0h0.0m", "", "-1m"]);

const scheduled = fc.record(
  {
    startTime: mostly(["00:00", "9:05", "9:5", "22:00"], ["24:00", "25:00", "19", "07:60"]),
    endTime: mostly(["24:00", "23:59", "02:00"], ["24:01", "25:00", "19"]),
    value: weight,
    days: mostly<readonly string[]>([["Mon"], ["Sat", "Sun"]], [[], ["Monday"]]),
  },
  { requiredKeys: ["startTime", "endTime", "value"] },
);

const targettracking = fc.record(
  {
    targetValue: mostly([1, 1000], [0, -1]),
    baseValue: weight,
    minimum: mostly([0, 1, 2], [255, 256]),
    maximum: mostly([2, 255], [1, 256]),
    scheduled: fc.array(scheduled, { maxLength: 2 }),
    timeZone: fc.constantFrom("UTC", "Asia/Tokyo"),
    scope: fc.constantFrom("total", "total", "base"),
    smoothing: timeSpan,
    settle: timeSpan,
    onNoData: fc.constantFrom("hold", "minimum", "value"),
    noDataValue: weight,
  },
  { requiredKeys: ["targetValue", "baseValue"] },
);

const route53 = fc.record({
  hostedZoneID: mostly(["Z1"], [""]),
  resource: fc.record({
    name: fc.constant("example.net"),
    type: fc.constant("A"),
    identifier: mostly(["a", "é".repeat(128)], ["", "é".repeat(129)]),
  }),
});
const httpRoute = fc.record({ name: fc.constant("shop"), backend: fc.constant("shop-a"), rule: mostly([0, 15], [16]) });
const target = fc.oneof(
  { weight: 8, arbitrary: fc.record({ route53 }) },
  { weight: 8, arbitrary: fc.record({ httpRoute }) },
  { weight: 1, arbitrary: fc.record({ route53, httpRoute }, { requiredKeys: [] }) },
);

const prometheus = fc.record(
  {
    address: mostly(["http://a", "HTTPS://a:9090/b"], ["a", "http://", "a:9090", "ftp://a"]),
    query: mostly(["up"], [""]),
    timeout: mostly([1, 30], [0, 2_147_484]),
    maxAge: period,
    auth: mostly<object>([{}, { secretRef: {} }, { bearerSecretRef: {} }], [{ secretRef: {}, bearerSecretRef: {} }]),
    headers: fc.array(
      fc.oneof(
        { weight: 20, arbitrary: fc.constantFrom({ name: "a", value: "" }, { name: "a", valueSecretRef: {} }) },
        { weight: 1, arbitrary: fc.constantFrom({ name: "a" }, { name: "a", value: "", valueSecretRef: {} }) },
      ),
      { maxLength: 2 },
    ),
    tls: mostly<object>([{}, { certSecretRef: {}, keySecretRef: {} }], [{ certSecretRef: {} }, { keySecretRef: {} }]),
  },
  { requiredKeys: ["address", "query"] },
);
const metrics = fc.oneof(
  { weight: 20, arbitrary: fc.record({ prometheus }) },
  { weight: 1, arbitrary: fc.constant({}) },
);

/** Either `one`, or a list of up to two as `several`; now and then both or neither. */
function eitherOr(one: string, several: string, value: fc.Arbitrary<object>): fc.Arbitrary<object> {
  const list = fc.array(value, { minLength: 1, maxLength: 2 });
  return fc.oneof(
    { weight: 20, arbitrary: fc.record({ [one]: value }) },
    { weight: 20, arbitrary: fc.record({ [several]: list }) },
    { weight: 1, arbitrary: fc.record({ [one]: value, [several]: list }) },
    { weight: 1, arbitrary: fc.constant({}) },
  );
}

const others = fc.record(
  { interval: period, dryRun: fc.boolean(), onDelete: mostly(["keep", "revert"], ["drop"]) },
  { requiredKeys: [] },
);

/** About as many that must be taken as must be refused. */
export const rebalanceSpecs: fc.Arbitrary<object> = fc
  .tuple(
    targettracking.map((policy) => ({ policy: { targettracking: policy } })),
    eitherOr("target", "targets", target),
    eitherOr("metrics", "metricSources", metrics),
    others,
  )
  .map((parts) => Object.assign({}, ...parts) as object);
