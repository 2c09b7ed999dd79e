import { durationKind, type Kind, type Setting } from "@evenkeel/runtime";

interface Line {
  readonly help: string;
  readonly aliases?: readonly string[];
}

function optional<T>(kind: Kind<T>): (line: Line) => Setting<T | undefined> {
  return ({ help, aliases = [] }) => ({
    kind,
    help,
    default: undefined,
    presence: "optional",
    env: [],
    aliases,
    secret: false,
  });
}

/** Base URLs. The kind is named list, so that the flag may be repeated. */
export const addresses = optional<readonly URL[]>({
  name: "list",
  takes: "an address such as http://127.0.0.1:8080, or several separated by commas",
  parse: (text) => {
    const urls = text.split(",").map((part) => URL.parse(part.trim()));
    const usable = (url: URL | null): url is URL => url !== null && ["http:", "https:"].includes(url.protocol);
    return urls.every(usable) ? urls : undefined;
  },
});

export const number = optional<number>({
  name: "number",
  takes: "a number",
  parse: (text) => (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : undefined),
});

/** Milliseconds. */
export const optionalDuration = optional<number>(durationKind);

/** Milliseconds since the epoch. */
export const instant = optional<number>({
  name: "time",
  takes: "a time such as 2026-01-31T17:30:00Z",
  parse: (text) => {
    const milliseconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[-+]\d\d:\d\d)$/i.test(text)
      ? Date.parse(text)
      : NaN;
    return Number.isNaN(milliseconds) ? undefined : milliseconds;
  },
});

/** The band of descheduler's LowNodeUtilization, in percent. */
export const comparison = optional<number>({
  name: "low-node-utilization[:band]",
  takes: "low-node-utilization or low-node-utilization:10, with a band from 1 to 100",
  parse: (text) => {
    const [, band = "10"] = /^low-node-utilization(?::(\d{1,3}))?$/.exec(text) ?? [undefined, ""];
    return band !== "" && Number(band) >= 1 && Number(band) <= 100 ? Number(band) : undefined;
  },
});
