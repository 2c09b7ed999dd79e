/**
 * An element of the plain XML that Route 53 speaks: text or elements inside, no attributes that matter but the
 * namespace.
 */
export interface XmlElement {
  readonly name: string;
  readonly text: string;
  readonly children: readonly XmlElement[];
}

interface OpenElement {
  readonly name: string;
  text: string;
  readonly children: XmlElement[];
}

const TOKEN = /<\?[^>]*\?>|<!--[\s\S]*?-->|<(\/?)([A-Za-z_][\w.:-]*)((?:\s[^<>]*)?\/?)>|([^<]+)/gy;

/** Deeper than any request of the API, and shallow enough for recursion. */
const DEEPEST = 32;

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** Reads a document to its root. Throws a SyntaxError at whatever the API does not use, a document type among it. */
export function readXml(source: string): XmlElement {
  const root: OpenElement = { name: "", text: "", children: [] };
  const open = [root];
  let end = 0;
  for (const token of source.matchAll(TOKEN)) {
    end = token.index + token[0].length;
    const [, slash, name, attributes = "", text] = token;
    const top = open.at(-1) ?? root;
    if (text !== undefined) top.text += unescape(text);
    else if (name === undefined) continue;
    else if (slash === "/") {
      if (top === root || top.name !== name) throw new SyntaxError(`</${name}> ends what did not begin`);
      open.pop();
    } else {
      const element: OpenElement = { name, text: "", children: [] };
      top.children.push(element);
      if (!attributes.endsWith("/")) open.push(element);
      if (open.length > DEEPEST) throw new SyntaxError("the elements are nested too deeply");
    }
  }
  const [only, ...more] = root.children;
  if (end !== source.length || open.length > 1 || only === undefined || more.length > 0 || root.text.trim() !== "")
    throw new SyntaxError("not one whole XML element");
  return only;
}

/** The document's text, with Route 53's namespace on the root. */
export function writeXml(root: XmlElement): string {
  const { name } = root;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${name} xmlns="https://route53.amazonaws.com/doc/2013-04-01/">${inside(root)}</${name}>`;
}

export function element(name: string, content: string | number | boolean | readonly XmlElement[]): XmlElement {
  return typeof content === "object"
    ? { name, text: "", children: content }
    : { name, text: String(content), children: [] };
}

/** The first child of that name. */
export function child(parent: XmlElement | undefined, name: string): XmlElement | undefined {
  return parent?.children.find((candidate) => candidate.name === name);
}

/** The text of a child; undefined if there is no such child. */
export function childText(parent: XmlElement | undefined, name: string): string | undefined {
  return child(parent, name)?.text.trim();
}

function inside({ text, children }: XmlElement): string {
  if (children.length === 0) return escape(text);
  return children.map((part) => `<${part.name}>${inside(part)}</${part.name}>`).join("");
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function unescape(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w+));/g, (whole, decimal, hex, name) => {
    if (typeof name === "string") return ENTITIES[name] ?? whole;
    const point = typeof decimal === "string" ? Number(decimal) : parseInt(String(hex), 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
}
