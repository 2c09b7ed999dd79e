import { useState } from "preact/hooks";
import type { Api } from "../api/api.ts";
import { faultText } from "../api/refused.ts";
import { Command } from "../parts/copy.tsx";
import { routeLink } from "../shell/route.ts";
import { exactTime } from "../words/relative-time.ts";
import { type Decision, objectKey } from "./decision.ts";

export interface DecisionDetailProps {
  readonly api: Api;
  readonly service: string;
  readonly decision: Decision;
}

/** The exact facts of a decision, the file of what it was based on, and the command that decides again on it. */
export function DecisionDetail({ api, service, decision }: DecisionDetailProps) {
  const [fault, setFault] = useState("");
  const { id, at, object, action, reason, before, after, dryRun } = decision;
  const file = `${id}.json`;

  const download = async () => {
    setFault("");
    try {
      save(await api.file("Decisions/Snapshot", { id }), file);
    } catch (error) {
      setFault(faultText(error));
    }
  };

  return (
    <div class="decision-detail">
      <dl class="facts">
        <dt>Decided</dt>
        <dd>{exactTime(Date.parse(at))}</dd>
        <dt>Object</dt>
        <dd>
          <a href={routeLink("decisions", { text: objectKey(object) })}>{objectKey(object)}</a>
        </dd>
        <dt>Action</dt>
        <dd>
          {action}, because {reason}
          {dryRun && " (dry run: said, not done)"}
        </dd>
        <dt>Before → after</dt>
        <dd>
          <code>
            {JSON.stringify(before ?? null)} → {JSON.stringify(after ?? null)}
          </code>
        </dd>
        <dt>Replay</dt>
        <dd>
          <Command text={`${service} replay ${file}`} label="Copy the replay command" />
        </dd>
      </dl>
      <p class="detail-buttons">
        <button type="button" onClick={() => void download()}>
          Download snapshot
        </button>
        {fault !== "" && (
          <span class="form-fault" role="alert">
            {fault}
          </span>
        )}
      </p>
    </div>
  );
}

function save(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = Object.assign(document.createElement("a"), { href: address, download: name });
  link.click();
  // Later, because the download starts after this task.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
