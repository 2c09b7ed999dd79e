import { Badge, numberText, routeLink, Time } from "@evenkeel/dashboard/browser";
import { useState } from "preact/hooks";
import { keyOf, pendingOf, type Service, stateWord, toneOf } from "./service.ts";

/** With more than these, a name is easier typed than looked for. */
const EASILY_SEEN = 8;

export function ServiceList({ services, chosen }: { readonly services: readonly Service[]; readonly chosen: Service }) {
  const [text, setText] = useState("");
  const found = services.filter(({ service }) => keyOf(service).includes(text.trim()));
  return (
    <div class="service-list">
      {services.length > EASILY_SEEN && (
        <input
          type="search"
          aria-label="Find a Service"
          placeholder={`Find one of ${services.length}`}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
      <ul>
        {found.map((shown) => (
          <Entry key={keyOf(shown.service)} shown={shown} current={shown === chosen} />
        ))}
      </ul>
      {found.length === 0 && <p class="quiet">None has that name.</p>}
    </div>
  );
}

function Entry({ shown, current }: { readonly shown: Service; readonly current: boolean }) {
  const { service, state, since, replicas, pods, paused } = shown;
  const pending = pendingOf(shown);
  const running = pods?.ready ?? replicas;
  return (
    <li>
      <a href={routeLink("", { service: keyOf(service) })} aria-current={current ? "true" : undefined}>
        <span class="entry-name">
          <span class="quiet">{service.namespace}/</span>
          <wbr />
          {service.name}
        </span>
        <Badge tone={toneOf(state)}>{stateWord(state)}</Badge>
        <span class="entry-facts">
          <span class={pending ? "entry-pending" : ""}>{numberText(pending)} waiting</span>{" "}
          <span class="quiet">
            · {running === undefined ? "– pods" : `${running} ${running === 1 ? "pod" : "pods"}`}
            {paused && " · paused"}
          </span>
        </span>
        <span class="entry-facts number quiet">{since !== undefined && <Time at={since} />}</span>
      </a>
    </li>
  );
}
