const NAME = "[a-zA-Z0-9](?:[a-zA-Z0-9_.-]*[a-zA-Z0-9])?";
const KEY = `(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?/)?${NAME}`;

const value = new RegExp(`^(?:${NAME})?$`);
const membership = new RegExp(`^${KEY}\\s+(?:in|notin)\\s*\\(([^()]*)\\)$`);
const requirements = [`!?\\s*${KEY}`, `${KEY}\\s*(?:==|=|!=)\\s*(?:${NAME})?`, `${KEY}\\s*[<>]\\s*-?\\d+`].map(
  (form) => new RegExp(`^${form}$`),
);

/** Why an API server would refuse a label selector; undefined if it would not. */
export function labelSelectorFault(text: string): string | undefined {
  if (text.trim() === "") return undefined;
  const parts = text.split(/,(?![^()]*\))/).map((part) => part.trim());
  const bad = parts.find((part) => !isRequirement(part));
  return bad === undefined ? undefined : `${JSON.stringify(bad)} is not a requirement of a label selector`;
}

/** The values of a list are matched one by one: an expression for the whole list takes exponential time. */
function isRequirement(part: string): boolean {
  const values = membership.exec(part)?.[1];
  if (values === undefined) return requirements.some((form) => form.test(part));
  return values.split(",").every((each) => value.test(each.trim()));
}

/** Why no API server can read a field selector; undefined if it can. Which fields it knows depends on the type. */
export function fieldSelectorFault(text: string): string | undefined {
  if (text.trim() === "") return undefined;
  const bad = text.split(/(?<!\\),/).find((part) => !/^[^=!]+(?:==|=|!=)[^=]*$/.test(part));
  return bad === undefined ? undefined : `${JSON.stringify(bad)} is not a requirement of a field selector`;
}
