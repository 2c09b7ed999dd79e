/** Which names a label may have, as `metric_name_validation_scheme` says. */
export type NameScheme = "utf8" | "legacy";

const legacyName = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function isLabelName(name: string, scheme: NameScheme): boolean {
  return scheme === "legacy" ? legacyName.test(name) : name !== "" && name.isWellFormed();
}
