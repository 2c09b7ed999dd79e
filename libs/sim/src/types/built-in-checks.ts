import { equal, type Fields, fieldsOr, listOr, omit, valueAt } from "../json.ts";
import { type Cause, forbiddenValue, invalidValue } from "../status.ts";

type Check = (object: Fields, old: Fields | undefined) => readonly Cause[];

const DATA_KEY = /^[-._a-zA-Z0-9]+$/;

/** ConfigMaps and Secrets: what their keys may be, and that an immutable one stays as it is. */
export const checkData: Check = (object, old) => {
  const keys = ["data", "binaryData"].flatMap((field) =>
    Object.keys(fieldsOr(object[field]))
      .filter((key) => !DATA_KEY.test(key) || key.length > 253)
      .map((key) =>
        invalidValue(
          `${field}[${key}]`,
          key,
          "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        ),
      ),
  );
  if (old?.["immutable"] !== true) return keys;
  const why = "field is immutable when `immutable` is set";
  const opened = object["immutable"] === true ? [] : [forbiddenValue("immutable", why)];
  const changed = ["data", "binaryData"].filter((field) => !equal(object[field] ?? {}, old[field] ?? {}));
  return [...keys, ...opened, ...changed.map((field) => forbiddenValue(field, why))];
};

/** A workload's selector never changes, and chooses its own pods. */
export const checkSelector: Check = (object, old) => {
  const path = ["spec", "selector"];
  const selector = valueAt(object, path);
  const changed = old !== undefined && !equal(selector, valueAt(old, path));
  const wanted = fieldsOr(fieldsOr(selector)["matchLabels"]);
  const labels = fieldsOr(valueAt(object, ["spec", "template", "metadata", "labels"]));
  const chosen = Object.entries(wanted).every(([key, value]) => labels[key] === value);
  return [
    ...(changed ? [invalidValue("spec.selector", selector, "field is immutable")] : []),
    ...(chosen
      ? []
      : [invalidValue("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")]),
  ];
};

const CHANGEABLE = [
  "activeDeadlineSeconds",
  "initContainers",
  "schedulingGates",
  "terminationGracePeriodSeconds",
  "tolerations",
];

/** Of a pod's spec only a few fields change after its creation. */
export const checkPod: Check = (object, old) => {
  if (old === undefined) return [];
  const fixed = (pod: Fields): Fields => {
    const spec = omit(fieldsOr(pod["spec"]), ...CHANGEABLE);
    const withoutImage = (container: unknown): Fields => omit(fieldsOr(container), "image");
    return { ...spec, containers: listOr(spec["containers"]).map(withoutImage) };
  };
  if (equal(fixed(object), fixed(old))) return [];
  return [forbiddenValue("spec", "pod updates may not change fields other than image, tolerations and a few more")];
};

export const checkBudget: Check = (object) => {
  const { minAvailable, maxUnavailable } = fieldsOr(object["spec"]);
  if (minAvailable === undefined || maxUnavailable === undefined) return [];
  return [invalidValue("spec", object["spec"], "minAvailable and maxUnavailable cannot be both set")];
};
