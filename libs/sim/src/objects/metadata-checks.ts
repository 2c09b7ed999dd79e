import { type Fields, fieldsOr, listOr, textOr } from "../json.ts";
import { type Cause, forbiddenValue, invalidValue, requiredValue } from "../status.ts";
import type { NameRule, ResourceType } from "../types/resource-type.ts";

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

const names: Readonly<Record<NameRule, { readonly form: RegExp; readonly longest: number; readonly why: string }>> = {
  subdomain: {
    form: new RegExp(`^${LABEL}(\\.${LABEL})*$`),
    longest: 253,
    why: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'",
  },
  label: {
    form: new RegExp(`^${LABEL}$`),
    longest: 63,
    why: "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-'",
  },
  service: {
    form: /^[a-z]([-a-z0-9]*[a-z0-9])?$/,
    longest: 63,
    why: "a DNS-1035 label must consist of lower case alphanumeric characters or '-', and start with a letter",
  },
  segment: { form: /^(?!\.\.?$)[^/%]+$/, longest: Infinity, why: "may not contain '/' or '%'" },
};

/** What is wrong with an object's metadata. */
export function checkMetadata(
  type: Pick<ResourceType, "nameRule">,
  metadata: Fields,
  old: Fields | undefined,
): Cause[] {
  return [
    ...nameCauses(type.nameRule, textOr(metadata["name"])),
    ...labelCauses(fieldsOr(metadata["labels"])),
    ...Object.keys(fieldsOr(metadata["annotations"]))
      .filter((key) => !QUALIFIED.test(key.toLowerCase()))
      .map((key) => invalidValue("metadata.annotations", key, "name part must consist of alphanumeric characters")),
    ...listOr(metadata["finalizers"])
      .filter((one) => !QUALIFIED.test(textOr(one)))
      .map((one) =>
        invalidValue("metadata.finalizers", one, "name is neither a standard finalizer name nor is it fully qualified"),
      ),
    ...lateFinalizers(metadata, old),
  ];
}

function nameCauses(rule: NameRule, name: string): Cause[] {
  const { form, longest, why } = names[rule];
  if (name === "") return [requiredValue("metadata.name", "name or generateName is required")];
  return form.test(name) && name.length <= longest ? [] : [invalidValue("metadata.name", name, why)];
}

function labelCauses(labels: Fields): Cause[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...(QUALIFIED.test(key)
      ? []
      : [invalidValue("metadata.labels", key, "name part must consist of alphanumeric characters, '-', '_' or '.'")]),
    ...(LABEL_VALUE.test(textOr(value))
      ? []
      : [
          invalidValue(
            "metadata.labels",
            value,
            "a valid label must be an empty string or consist of alphanumeric characters",
          ),
        ]),
  ]);
}

function lateFinalizers(metadata: Fields, old: Fields | undefined): Cause[] {
  if (old?.["deletionTimestamp"] === undefined) return [];
  const known = listOr(old["finalizers"]);
  const late = listOr(metadata["finalizers"]).filter((one) => !known.includes(one));
  if (late.length === 0) return [];
  const why = "no new finalizers can be added if the object is being deleted, found new finalizers";
  return [forbiddenValue("metadata.finalizers", `${why} ${JSON.stringify(late)}`)];
}
