import { type Decision, objectKey } from "../decision/index.ts";
import { durationText, type ShownSetting } from "../settings/index.ts";

/** What the status page and `/api/v1/Runtime/Status` tell of a process. */
export interface Status {
  readonly service: string;
  readonly summary: string;
  readonly version: string;
  readonly phase: string;
  /** Milliseconds since the process started. */
  readonly uptime: number;
  readonly unready: readonly { readonly name: string; readonly reason: string }[];
  readonly settings: readonly ShownSetting[];
  /** The newest first. */
  readonly decisions: readonly Decision[];
}

/** A page that shows what this process is doing. It has no script, so that it works through any proxy. */
export function statusPage(status: Status): string {
  const { service, summary, version, uptime, unready, settings, decisions } = status;
  const ready = unready.length === 0;
  const health = ready ? `<p class="ok">Ready</p>` : `<ul class="bad">${unready.map(reasonItem).join("")}</ul>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="5">
<title>${html(service)} · ${ready ? "ready" : "not ready"}</title>
<link rel="stylesheet" href="/status.css">
</head>
<body>
<header><h1>${html(service)}</h1><p>${html(summary)}</p>
<p class="quiet">version ${html(version)} · up ${durationText(Math.floor(uptime / 1000) * 1000)} · <a href="/metrics">metrics</a></p></header>
<section><h2>Health</h2>${health}</section>
<section><h2>Last decisions</h2>${decisions.length === 0 ? `<p class="quiet">None yet.</p>` : decisionTable(decisions)}</section>
<section><h2>Settings</h2><table><thead><tr><th>setting</th><th>value</th><th>from</th></tr></thead><tbody>
${settings.map(settingRow).join("\n")}
</tbody></table></section>
</body>
</html>
`;
}

function reasonItem({ name, reason }: Status["unready"][number]): string {
  return `<li>${html(name)}: ${html(reason)}</li>`;
}

function settingRow({ name, value, source }: ShownSetting): string {
  return `<tr><td><code>--${html(name)}</code></td><td>${html(value)}</td><td class="quiet">${html(source)}</td></tr>`;
}

function decisionTable(decisions: readonly Decision[]): string {
  const rows = decisions.map(
    ({ id, at, object, action, reason, message, dryRun }) =>
      `<tr><td><time datetime="${html(at)}">${html(at.slice(11, 19))}</time></td><td>${html(objectKey(object))}</td>` +
      `<td>${html(action)}${dryRun ? " (dry run)" : ""}</td><td>${html(reason)}</td><td>${html(message)}</td>` +
      `<td><a href="/api/v1/Decisions/Snapshot?id=${html(id)}">snapshot</a></td></tr>`,
  );
  const head = ["at", "object", "action", "reason", "what and why", ""].map((title) => `<th>${title}</th>`).join("");
  return `<table><thead><tr>${head}</tr></thead><tbody>\n${rows.join("\n")}\n</tbody></table>`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function html(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}

export const statusStyle = `
:root { color-scheme: light dark; --ink: light-dark(#1b2430, #e6ebf1); --quiet: light-dark(#5c6b7d, #93a1b3);
  --page: light-dark(#fbfcfd, #12171d); --line: light-dark(#dde4eb, #2a333e); --accent: light-dark(#0b6e99, #58b7dd);
  --bad: light-dark(#b3361b, #f08a6c); }
body { margin: 0 auto; max-width: 68rem; padding: 2rem 1.25rem 4rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
h1 { margin: 0; font-size: 1.75rem; line-height: 1.2; }
h2 { margin: 2.5rem 0 .5rem; font-size: 1.05rem; }
p { margin: .25rem 0; }
a { color: var(--accent); }
section { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td { padding: .4rem .9rem .4rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--quiet); font-weight: 500; }
.quiet { color: var(--quiet); }
.ok { color: var(--accent); font-weight: 600; }
.bad { color: var(--bad); padding-left: 1.2rem; }
`;
