import { useState } from "preact/hooks";
import { Badge } from "../parts/badge.tsx";
import { Empty } from "../parts/states.tsx";
import type { Status } from "./status.ts";

/** Every setting with its value and source. The service masks secrets. */
export function SettingsPage({ status }: { readonly status: Status }) {
  const [text, setText] = useState("");
  const [chosenOnly, setChosenOnly] = useState(false);
  const found = status.settings.filter(
    ({ name, value, source }) =>
      (!chosenOnly || !isDefault(source)) && `${name} ${value}`.toLowerCase().includes(text.trim().toLowerCase()),
  );
  return (
    <>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <label class="field grow">
          <span>Search</span>
          <input
            type="search"
            placeholder="Name or value"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <label class="tick">
          <input
            type="checkbox"
            checked={chosenOnly}
            onChange={(event) => setChosenOnly(event.currentTarget.checked)}
          />
          Not at its default
        </label>
      </form>
      <p class="count" aria-live="polite">
        {found.length} of {status.settings.length} settings
      </p>
      {found.length === 0 ? (
        <Empty title="No setting matches" />
      ) : (
        <div class="card flush">
          <table class="settings">
            <thead>
              <tr>
                <th scope="col">Setting</th>
                <th scope="col">Value</th>
                <th scope="col">From</th>
              </tr>
            </thead>
            <tbody>
              {found.map(({ name, value, source }) => (
                <tr key={name}>
                  <td>
                    <code>--{name}</code>
                  </td>
                  <td class="setting-value">{value === "" ? <span class="quiet">not set</span> : value}</td>
                  <td>
                    <Badge tone={isDefault(source) ? "quiet" : "accent"}>
                      {source.startsWith("--") ? "flag" : source}
                    </Badge>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function isDefault(source: string): boolean {
  return source === "default" || source === "unset";
}
