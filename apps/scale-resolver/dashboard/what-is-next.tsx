import { type Api, Badge, Card, keyOf, NotLoaded, useLoaded } from "@evenkeel/dashboard/browser";
import { useEffect } from "preact/hooks";
import { type Obstacle, type Preview, type Service, stateWord, toneOf } from "./service.ts";

/** Milliseconds between two requests while nothing changes: the remaining times count down. */
const INTERVAL = 5000;

/** The decision that the service would make now, and what keeps it awake. */
export function WhatIsNext({ api, shown }: { readonly api: Api; readonly shown: Service }) {
  const { service, state, reason, decidedAt } = shown;
  const asked = useLoaded(
    keyOf(service),
    (signal) => api.ask<Preview>("Resolver/Preview", { service }, signal),
    INTERVAL,
  );
  const { reload } = asked;
  useEffect(reload, [state, reason, decidedAt]);
  return (
    <Card title="What is next">
      {asked.data ? <Told preview={asked.data} /> : <NotLoaded what="preview" loaded={asked} />}
    </Card>
  );
}

function Told({ preview: { state, next, reason, message, obstacles, waits } }: { readonly preview: Preview }) {
  return (
    <div class="next" aria-live="polite">
      <p class="next-state">
        <Badge tone={toneOf(state)}>{stateWord(state)}</Badge>
        {state === next ? (
          <span class="quiet">stays</span>
        ) : (
          <>
            <span class="quiet">→</span> <Badge tone={toneOf(next)}>{stateWord(next)}</Badge>
          </>
        )}
      </p>
      {obstacles.length > 0 && <Reasons title="Keeps it awake" reasons={obstacles} />}
      {waits.length > 0 && <Reasons title="Takes time" reasons={waits} />}
      {obstacles.length + waits.length === 0 && (
        <p>
          <Badge tone="accent">{reason}</Badge> {message}
        </p>
      )}
    </div>
  );
}

function Reasons({ title, reasons }: { readonly title: string; readonly reasons: readonly Obstacle[] }) {
  return (
    <>
      <h3>{title}</h3>
      <ul class="obstacles">
        {reasons.map(({ reason, message }) => (
          <li key={`${reason} ${message}`}>
            <Badge tone="quiet">{reason}</Badge> <span>{message}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
