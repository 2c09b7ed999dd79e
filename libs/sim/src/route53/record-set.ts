import { child, childText, element, type XmlElement } from "./xml.ts";

export interface AliasTarget {
  readonly zone: string;
  readonly name: string;
  readonly evaluateTargetHealth: boolean;
}

/** A resource record set. It has either `ttl` and `values` or an `alias`. */
export interface RecordSet {
  /** Lower case with a trailing dot, `*` as `\052`, once it went through `canonicalName`. */
  readonly name: string;
  readonly type: string;
  readonly setIdentifier?: string;
  /** 0 to 255; a set with a weight has a `setIdentifier` too. */
  readonly weight?: number;
  /** Seconds. */
  readonly ttl?: number;
  readonly values?: readonly string[];
  readonly alias?: AliasTarget;
  /** Elements that are kept as they came, such as HealthCheckId. */
  readonly others?: readonly XmlElement[];
}

const READ = new Set(["Name", "Type", "SetIdentifier", "Weight", "TTL", "ResourceRecords", "AliasTarget"]);

/** What the element says. Numbers that are none come out as NaN, absent fields stay absent. */
export function readRecordSet(source: XmlElement): RecordSet {
  const setIdentifier = childText(source, "SetIdentifier");
  const weight = childText(source, "Weight");
  const ttl = childText(source, "TTL");
  const records = child(source, "ResourceRecords");
  const alias = child(source, "AliasTarget");
  const others = source.children.filter(({ name }) => !READ.has(name));
  return {
    name: childText(source, "Name") ?? "",
    type: childText(source, "Type") ?? "",
    ...(setIdentifier !== undefined && { setIdentifier }),
    ...(weight !== undefined && { weight: wholeNumber(weight) }),
    ...(ttl !== undefined && { ttl: wholeNumber(ttl) }),
    ...(records && { values: records.children.map((record) => childText(record, "Value") ?? "") }),
    ...(alias && {
      alias: {
        zone: childText(alias, "HostedZoneId") ?? "",
        name: childText(alias, "DNSName") ?? "",
        evaluateTargetHealth: childText(alias, "EvaluateTargetHealth") === "true",
      },
    }),
    ...(others.length > 0 && { others }),
  };
}

/** The element in the order of Route 53's schema. */
export function writeRecordSet(set: RecordSet): XmlElement {
  const { name, type, setIdentifier, weight, ttl, values, alias, others = [] } = set;
  return element("ResourceRecordSet", [
    element("Name", name),
    element("Type", type),
    ...(setIdentifier === undefined ? [] : [element("SetIdentifier", setIdentifier)]),
    ...(weight === undefined ? [] : [element("Weight", weight)]),
    ...(ttl === undefined ? [] : [element("TTL", ttl)]),
    ...(values === undefined ? [] : [element("ResourceRecords", values.map(writeRecord))]),
    ...(alias === undefined ? [] : [writeAlias(alias)]),
    ...others,
  ]);
}

/** A DNS name as Route 53 stores and lists it. */
export function canonicalName(name: string): string {
  const lower = name.toLowerCase().replaceAll("*", "\\052");
  return lower.endsWith(".") ? lower : `${lower}.`;
}

/**
 * The place of a record set in a list: by the labels of its name from the last to the first, then by type and
 * identifier.
 */
export function sortKey(name: string, type = "", setIdentifier = ""): string {
  const reversed = canonicalName(name).slice(0, -1).split(".").reverse().join(".");
  return [`${reversed}.`, type, setIdentifier].join("\0");
}

function wholeNumber(text: string): number {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : NaN;
}

function writeRecord(value: string): XmlElement {
  return element("ResourceRecord", [element("Value", value)]);
}

function writeAlias({ zone, name, evaluateTargetHealth }: AliasTarget): XmlElement {
  return element("AliasTarget", [
    element("HostedZoneId", zone),
    element("DNSName", name),
    element("EvaluateTargetHealth", evaluateTargetHealth),
  ]);
}
