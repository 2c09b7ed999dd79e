import { fieldsOr, textOr } from "../json.ts";
import type { StoredObject } from "../object.ts";
import { age } from "../serve/age.ts";
import { builtIn } from "./built-in-type.ts";
import { anything, integer, open, text } from "./open-schema.ts";
import type { Column, ResourceType } from "./resource-type.ts";

/** What the two groups call the same field of the same Event. */
const names: readonly (readonly [core: string, group: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
];

function renamed(
  object: StoredObject,
  apiVersion: string,
  pairs: readonly (readonly [string, string])[],
): StoredObject {
  const to = new Map(pairs);
  const fields = Object.entries(object).map(([key, value]) => [to.get(key) ?? key, value]);
  return { ...(Object.fromEntries(fields) as unknown as StoredObject), apiVersion };
}

const toGroup = (object: StoredObject): StoredObject => renamed(object, "events.k8s.io/v1", names);
const toCore = (object: StoredObject): StoredObject =>
  renamed(
    object,
    "v1",
    names.map(([core, group]) => [group, core]),
  );

const lastSeen = (object: StoredObject, now: number): string => {
  const { series, eventTime, lastTimestamp } = toCore(object);
  const { lastObservedTime } = fieldsOr(series);
  return age(lastObservedTime ?? lastTimestamp ?? eventTime ?? object.metadata.creationTimestamp, now);
};
const shown = (name: string, cell: (event: StoredObject) => unknown): Column => ({
  ...{ name, type: "string", cell: (object) => cell(toCore(object)) },
});
const columns: readonly Column[] = [
  { name: "Last Seen", type: "string", cell: lastSeen },
  shown("Type", ({ type }) => type ?? ""),
  shown("Reason", ({ reason }) => reason ?? ""),
  shown("Object", ({ involvedObject }) => {
    const { kind, name } = fieldsOr(involvedObject);
    return `${textOr(kind).toLowerCase()}/${textOr(name)}`;
  }),
  shown("Message", ({ message }) => message ?? ""),
];

/** Events, which both groups serve: each shows those that were written through the other. */
export const eventTypes: readonly ResourceType[] = [
  builtIn(
    "v1 Event events",
    {
      involvedObject: open(),
      reason: text,
      message: text,
      source: open(),
      firstTimestamp: anything,
      lastTimestamp: anything,
      count: integer,
      type: text,
      eventTime: anything,
      series: anything,
      action: text,
      related: anything,
      reportingComponent: text,
      reportingInstance: text,
    },
    {
      ...{ shortNames: ["ev"], required: ["involvedObject"], columns, convert: toCore },
      selectable: [
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
      ],
    },
  ),
  builtIn(
    "events.k8s.io/v1 Event events",
    {
      eventTime: anything,
      series: anything,
      reportingController: text,
      reportingInstance: text,
      action: text,
      reason: text,
      regarding: open(),
      related: anything,
      note: text,
      type: text,
      deprecatedSource: anything,
      deprecatedFirstTimestamp: anything,
      deprecatedLastTimestamp: anything,
      deprecatedCount: integer,
    },
    {
      ...{ table: "/events", shortNames: ["ev"], columns, convert: toGroup },
      selectable: [
        "reason",
        "reportingController",
        "regarding.kind",
        "regarding.namespace",
        "regarding.name",
        "regarding.uid",
        "type",
      ],
    },
  ),
];
