/** C0 controls and DEL. */
const CONTROL = /\p{Cc}/u;
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
const HOST = /^(?:\[[0-9A-Za-z:.%_~-]+\]|[^\s<>"{}|\\^`[\]:]*)(?::\d*)?$/;

/**
 * Whether Go's url.Parse takes the text for a URL. It is not as strict as `new URL`: hosts may be empty, for instance.
 */
export function isGoUrl(text: string): boolean {
  if (CONTROL.test(text.replaceAll(/[\u0080-\u009f]/g, ""))) return false;
  const [whole = "", ...fragments] = text.split("#");
  const [beforeQuery = ""] = whole.split("?");
  const [, scheme, rest = ""] = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s.exec(beforeQuery) ?? ["", undefined, beforeQuery];
  if (beforeQuery.startsWith(":") || BAD_ESCAPE.test(fragments.join("#"))) return false;
  if (rest.startsWith("//")) {
    const [authority = "", ...path] = rest.slice(2).split("/");
    const host = authority.slice(authority.lastIndexOf("@") + 1);
    return HOST.test(host) && !BAD_ESCAPE.test(host) && !BAD_ESCAPE.test(path.join("/"));
  }
  if (rest.startsWith("/")) return !BAD_ESCAPE.test(rest);
  if (scheme !== undefined) return true;
  return !(rest.split("/")[0] ?? "").includes(":") && !BAD_ESCAPE.test(rest);
}
