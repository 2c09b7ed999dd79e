/** A server-sent event, or a sign of life between them. */
export type StreamItem =
  { readonly kind: "alive" } | { readonly kind: "event"; readonly name: string; readonly data: string };

/**
 * Reads an event stream piece by piece:
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export class EventReader {
  #rest = "";
  #name = "";
  #data: string[] = [];

  /** The items that are complete after `text`. */
  read(text: string): readonly StreamItem[] {
    const items: StreamItem[] = [];
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") this.#finish(items);
      else if (line.startsWith(":")) items.push({ kind: "alive" });
      else this.#field(line);
    }
    return items;
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.#name = value;
    else if (name === "data") this.#data.push(value);
  }

  #finish(items: StreamItem[]): void {
    if (this.#data.length > 0) {
      items.push({ kind: "event", name: this.#name || "message", data: this.#data.join("\n") });
    }
    this.#name = "";
    this.#data = [];
  }
}
