import type { Api } from "../api/api.ts";
import { type Decision, isChange, objectKey } from "../decisions/decision.ts";
import { useLoaded } from "../live/hooks.ts";
import { Badge } from "../parts/badge.tsx";
import { Empty, Fault, Loading } from "../parts/states.tsx";
import { Time } from "../parts/time.tsx";
import { spanText } from "../words/relative-time.ts";
import { valueText } from "../words/value-text.ts";
import type { Peer, Status } from "./status.ts";

export interface PeersPageProps {
  readonly api: Api;
  readonly status: Status;
  readonly decisions: readonly Decision[] | undefined;
}

/** Milliseconds between two requests while the page is visible. */
const INTERVAL = 3000;

/** This service and its peers, a tile each. */
export function PeersPage({ api, status, decisions }: PeersPageProps) {
  const { data, fault, reload } = useLoaded(
    "peers",
    (signal) => api.get<{ readonly peers: readonly Peer[] }>("Dashboard/Peers", {}, signal),
    INTERVAL,
  );
  if (!data && fault !== undefined) return <Fault what="Peers" fault={fault} retry={reload} />;
  if (!data) return <Loading what="peers" />;
  return (
    <>
      <ul class="tiles">
        <li>
          <Tile
            name={status.service}
            link="#/"
            note="this service"
            peer={{ ...status, up: true, decisions: decisions ?? [] }}
          />
        </li>
        {data.peers.map((peer) => (
          <li key={peer.name}>
            <Tile name={peer.name} link={peer.dashboard} peer={peer} askedAt={peer.askedAt} />
          </li>
        ))}
      </ul>
      {data.peers.length === 0 && (
        <Empty title="No peers configured">
          <code>--dashboard-peers name=url</code> shows other services here.
        </Empty>
      )}
    </>
  );
}

interface TileProps {
  readonly name: string;
  readonly link: string;
  readonly note?: string;
  readonly askedAt?: string;
  readonly peer:
    ({ readonly up: true } & Omit<Status, "summary" | "settings">) | { readonly up: false; readonly fault: string };
}

function Tile({ name, link, note, peer, askedAt }: TileProps) {
  const state = !peer.up ? "down" : peer.unready.length > 0 ? "unready" : "ready";
  return (
    <article class={`tile ${state}`}>
      <header>
        <h2>
          <a href={link}>{name}</a>
        </h2>
        {state === "ready" && <Badge tone="ok">Ready</Badge>}
        {state === "unready" && <Badge tone="warn">Not ready</Badge>}
        {state === "down" && <Badge tone="bad">Down</Badge>}
      </header>
      {peer.up ? <UpTile peer={peer} note={note} /> : <DownTile fault={peer.fault} askedAt={askedAt ?? ""} />}
    </article>
  );
}

function DownTile({ fault, askedAt }: { readonly fault: string; readonly askedAt: string }) {
  return (
    <>
      <p class="tile-message">{fault}</p>
      <p class="tile-foot">
        asked <Time at={askedAt} />
      </p>
    </>
  );
}

function UpTile({
  peer,
  note,
}: {
  readonly peer: Extract<TileProps["peer"], { up: true }>;
  readonly note?: string | undefined;
}) {
  const last = peer.decisions.slice(0, 30);
  const change = last.find(isChange) ?? last[0];
  return (
    <>
      {peer.unready.map(({ name, reason }) => (
        <p key={name} class="tile-message">
          {name}: {reason}
        </p>
      ))}
      {change ? (
        <div class="tile-decision">
          <p>
            <Badge tone={isChange(change) ? "accent" : "quiet"}>{change.reason}</Badge>{" "}
            <span class="tile-value">
              {isChange(change) && <span class="quiet">{valueText(change.before)} → </span>}
              {valueText(change.after)}
            </span>
          </p>
          <p class="tile-message" title={objectKey(change.object)}>
            {change.message}
          </p>
        </div>
      ) : (
        <p class="tile-message quiet">No decision yet.</p>
      )}
      <Pulse decisions={last} />
      <p class="tile-foot">
        {note ?? `version ${peer.version}`} · up {spanText(peer.uptime)}
        {change && (
          <>
            {" · "}
            <Time at={change.at} />
          </>
        )}
      </p>
    </>
  );
}

/** The last decisions as bars, the newest to the right: tall ones changed something. */
function Pulse({ decisions }: { readonly decisions: readonly Decision[] }) {
  if (decisions.length === 0) return null;
  const changes = decisions.filter(isChange).length;
  return (
    <svg
      class="pulse"
      viewBox="0 0 150 20"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${changes} of the last ${decisions.length} decisions changed something`}
    >
      {decisions.map((decision, index) => {
        const tall = isChange(decision);
        const height = tall ? 18 : 6;
        return (
          <rect
            key={decision.id}
            class={tall ? "tall" : ""}
            x={(decisions.length - 1 - index) * 5}
            y={20 - height}
            width="3"
            height={height}
          />
        );
      })}
    </svg>
  );
}
