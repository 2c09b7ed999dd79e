import { canonicalName, readRecordSet, type RecordSet } from "./record-set.ts";
import { invalidBatch, invalidInput } from "./route53-fault.ts";
import { child, childText, type XmlElement } from "./xml.ts";

export type ChangeAction = "CREATE" | "UPSERT" | "DELETE";

export interface Change {
  readonly action: ChangeAction;
  readonly record: RecordSet;
}

/**
 * The limits of one request; an UPSERT counts twice in both.
 * https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/DNSLimitations.html
 */
const MOST_RECORDS = 1000;
const MOST_CHARACTERS = 32_000;

const HEAVIEST = 255;
const LONGEST_TTL = 2 ** 31 - 1;

/**
 * The changes of a request, each whole by itself. Throws InvalidInput for what no zone could take, InvalidChangeBatch
 * beyond a limit.
 */
export function readChanges(request: XmlElement): Change[] {
  if (request.name !== "ChangeResourceRecordSetsRequest")
    throw invalidInput(`Invalid XML ; unexpected ${request.name}`);
  const changes = child(child(request, "ChangeBatch"), "Changes")?.children.map(readChange) ?? [];
  if (changes.length === 0) throw invalidInput("Invalid XML ; the ChangeBatch holds no Change");
  let records = 0;
  let characters = 0;
  for (const { action, record } of changes) {
    const times = action === "UPSERT" ? 2 : 1;
    for (const value of record.values ?? []) {
      records += times;
      characters += times * value.length;
    }
  }
  if (records > MOST_RECORDS) throw invalidBatch([`Number of records limit of ${MOST_RECORDS} exceeded.`]);
  if (characters > MOST_CHARACTERS) throw invalidBatch([`Number of characters limit of ${MOST_CHARACTERS} exceeded.`]);
  return changes;
}

/** How messages of the API name a record set. */
export function described({ name, type, setIdentifier }: RecordSet): string {
  const identifier = setIdentifier === undefined ? "" : `, set identifier='${setIdentifier}'`;
  return `[name='${name}', type='${type}'${identifier}]`;
}

function readChange(source: XmlElement): Change {
  const action = childText(source, "Action") ?? "";
  const set = child(source, "ResourceRecordSet");
  if (!isAction(action))
    throw invalidInput(
      `Invalid XML ; cvc-enumeration-valid: Value '${action}' is not facet-valid with respect to enumeration '[CREATE, DELETE, UPSERT]'. It must be a value from the enumeration.`,
    );
  if (set === undefined) throw invalidInput("Invalid XML ; a Change holds no ResourceRecordSet");
  const read = readRecordSet(set);
  checkRecordSet(action, read);
  const { alias } = read;
  const record = { ...read, name: canonicalName(read.name) };
  return { action, record: alias ? { ...record, alias: { ...alias, name: canonicalName(alias.name) } } : record };
}

function checkRecordSet(action: ChangeAction, set: RecordSet): void {
  const { name, type, setIdentifier, weight, ttl, values, alias } = set;
  const where = `in Change with [Action=${action}, Name=${name}, Type=${type}, SetIdentifier=${setIdentifier ?? "null"}]`;
  if (name === "" || type === "") throw invalidInput(`Invalid XML ; Name or Type is missing ${where}`);
  if (weight !== undefined && !(weight >= 0 && weight <= HEAVIEST))
    throw invalidInput(`Invalid XML ; Weight must be between 0 and ${HEAVIEST} ${where}`);
  if (ttl !== undefined && !(ttl >= 0 && ttl <= LONGEST_TTL))
    throw invalidInput(`Invalid XML ; TTL must be between 0 and ${LONGEST_TTL} ${where}`);
  if (weight !== undefined && (setIdentifier === undefined || setIdentifier === ""))
    throw invalidInput(`Invalid request: Missing field 'SetIdentifier' ${where}`);
  if (values?.length === 0) throw invalidInput(`Invalid XML ; ResourceRecords is empty ${where}`);
  const forms = Number(alias !== undefined) + Number(ttl !== undefined && values !== undefined);
  const parts = Number(ttl !== undefined) + Number(values !== undefined);
  if (forms === 1 && (alias === undefined || parts === 0)) return;
  const found = forms === 0 ? "none" : "more than one";
  throw invalidInput(
    `Invalid request: Expected exactly one of [AliasTarget, all of [TTL, and ResourceRecords], or TrafficPolicyInstanceId], but found ${found} ${where}`,
  );
}

function isAction(text: string): text is ChangeAction {
  return text === "CREATE" || text === "UPSERT" || text === "DELETE";
}
