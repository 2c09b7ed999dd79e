/**
 * Headers in the format of node:http2: an object with names in lower case, and several values of one name as a list.
 */
export function headerObject(list: readonly string[]): Record<string, string | string[]> {
  const object = Object.create(null) as Record<string, string | string[]>;
  for (let index = 0; index < list.length; index += 2) {
    const name = list[index] as string;
    const value = list[index + 1] as string;
    const before = object[name];
    if (before === undefined) object[name] = value;
    else if (typeof before === "string") object[name] = [before, value];
    else before.push(value);
  }
  return object;
}
