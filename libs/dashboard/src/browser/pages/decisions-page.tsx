import { useMemo, useState } from "preact/hooks";
import type { Api } from "../api/api.ts";
import { type Decision, fits, isChange } from "../decisions/decision.ts";
import { DecisionTable } from "../decisions/decision-table.tsx";
import { Empty, Loading } from "../parts/states.tsx";
import { replaceQuery } from "../shell/route.ts";

export interface DecisionsPageProps {
  readonly api: Api;
  readonly service: string;
  readonly decisions: readonly Decision[] | undefined;
  readonly query: Readonly<Record<string, string>>;
}

/** Number of rows before the reader requests more. */
const STEP = 100;

/** All decisions that the service remembers, with a filter that the address holds, so that it can be sent to others. */
export function DecisionsPage({ api, service, decisions, query }: DecisionsPageProps) {
  const [held, setHeld] = useState<readonly Decision[]>();
  const [rows, setRows] = useState(STEP);
  const { text = "", action = "", reason = "", changes = "" } = query;
  const shown = held ?? decisions;
  const found = useMemo(
    () => shown?.filter((decision) => fits(decision, { text, action, reason, changesOnly: changes !== "" })),
    [shown, text, action, reason, changes],
  );
  if (!shown || !found) return <Loading what="decisions" />;

  const choose = (change: Readonly<Record<string, string>>) => {
    setRows(STEP);
    replaceQuery("decisions", { ...query, ...change });
  };
  const missed = held && decisions ? decisions.filter(({ id }) => !held.some((known) => known.id === id)).length : 0;

  return (
    <>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label class="field grow">
          <span>Search</span>
          <input
            type="search"
            placeholder="Object, reason or message"
            value={text}
            onInput={(event) => choose({ text: event.currentTarget.value })}
          />
        </label>
        <Choice
          label="Action"
          value={action}
          of={shown.map((one) => one.action)}
          choose={(to) => choose({ action: to })}
        />
        <Choice
          label="Reason"
          value={reason}
          of={shown.map((one) => one.reason)}
          choose={(to) => choose({ reason: to })}
        />
        <label class="tick">
          <input
            type="checkbox"
            checked={changes !== ""}
            onChange={(event) => choose({ changes: event.currentTarget.checked ? "only" : "" })}
          />
          Changes only
        </label>
        <button type="button" aria-pressed={held !== undefined} onClick={() => setHeld(held ? undefined : decisions)}>
          {held ? `Resume updates${missed > 0 ? ` (${missed} new)` : ""}` : "Pause updates"}
        </button>
      </form>
      <p class="count" aria-live="polite">
        {found.length} of {shown.length} decisions · {found.filter(isChange).length} changed something
      </p>
      {found.length === 0 ? (
        <Nothing any={shown.length > 0} clear={() => replaceQuery("decisions", {})} />
      ) : (
        <div class="card flush">
          <DecisionTable {...{ api, service }} decisions={found.slice(0, rows)} />
        </div>
      )}
      {found.length > rows && (
        <p class="centred">
          <button type="button" onClick={() => setRows(rows + STEP)}>
            Show {Math.min(STEP, found.length - rows)} more
          </button>
        </p>
      )}
    </>
  );
}

function Nothing({ any, clear }: { readonly any: boolean; readonly clear: () => void }) {
  if (!any) return <Empty title="No decision yet">The first one appears here when it is made.</Empty>;
  return (
    <Empty title="No decision matches">
      <button type="button" onClick={clear}>
        Clear the filter
      </button>
    </Empty>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly of: readonly string[];
  readonly choose: (value: string) => void;
}

function Choice({ label, value, of, choose }: ChoiceProps) {
  const words = [...new Set(value === "" ? of : [value, ...of])].toSorted();
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">Any</option>
        {words.map((word) => (
          <option key={word} value={word}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}
