import { useState } from "preact/hooks";
import type { Api } from "../api/api.ts";
import { Badge } from "../parts/badge.tsx";
import { Icon } from "../parts/icon.tsx";
import { Time } from "../parts/time.tsx";
import { valueText } from "../words/value-text.ts";
import { type Decision, isChange, objectKey } from "./decision.ts";
import { DecisionDetail } from "./decision-detail.tsx";

export interface DecisionTableProps {
  readonly api: Api;
  readonly service: string;
  readonly decisions: readonly Decision[];
  /** Left out where every row is about the same one. */
  readonly withObject?: boolean;
}

/** Decisions, one per row. A row opens to show its snapshot and how to replay it. */
export function DecisionTable({ api, service, decisions, withObject = true }: DecisionTableProps) {
  const [open, setOpen] = useState<string>();
  return (
    <table class={`decisions ${withObject ? "" : "of-one"}`}>
      <thead>
        <tr>
          <th scope="col">When</th>
          {withObject && <th scope="col">Object</th>}
          <th scope="col">Reason</th>
          <th scope="col" class="number">
            Value
          </th>
          <th scope="col">What and why</th>
          <th scope="col">
            <span class="unseen">Details</span>
          </th>
        </tr>
      </thead>
      {decisions.map((decision) => (
        <DecisionRows
          key={decision.id}
          {...{ api, service, decision, withObject }}
          open={open === decision.id}
          toggle={() => setOpen(open === decision.id ? undefined : decision.id)}
        />
      ))}
    </table>
  );
}

interface RowsProps {
  readonly api: Api;
  readonly service: string;
  readonly decision: Decision;
  readonly withObject: boolean;
  readonly open: boolean;
  readonly toggle: () => void;
}

function DecisionRows({ api, service, decision, withObject, open, toggle }: RowsProps) {
  const { object, action, reason, before, after, message, dryRun, at } = decision;
  const change = isChange(decision);
  return (
    <tbody class={open ? "open" : ""}>
      <tr>
        <td class="when">
          <Time at={at} />
        </td>
        {withObject && (
          <td class="object">
            <span class="kind">{object.kind}</span> {object.namespace === undefined ? "" : `${object.namespace}/`}
            <wbr />
            {object.name}
          </td>
        )}
        <td class="reason">
          <Badge tone={change ? "accent" : "quiet"}>{reason}</Badge>
          <span class="action">
            {action}
            {dryRun && " · dry run"}
          </span>
        </td>
        <td class="number value" title={`${JSON.stringify(before ?? null)} → ${JSON.stringify(after ?? null)}`}>
          {change ? (
            <>
              <span class="quiet">{valueText(before)} →</span> {valueText(after)}
            </>
          ) : (
            <span class="quiet">{valueText(after)}</span>
          )}
        </td>
        <td class="message">{message}</td>
        <td class="more">
          <button
            type="button"
            class="plain round"
            aria-expanded={open}
            aria-label={`Details of ${objectKey(object)}, ${reason}`}
            onClick={toggle}
          >
            <Icon name="chevron" />
          </button>
        </td>
      </tr>
      {open && (
        <tr class="detail">
          <td colSpan={withObject ? 6 : 5}>
            <DecisionDetail {...{ api, service, decision }} />
          </td>
        </tr>
      )}
    </tbody>
  );
}
