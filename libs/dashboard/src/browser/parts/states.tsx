import type { ComponentChildren } from "preact";
import type { Loaded } from "../live/hooks.ts";

/** There is nothing, and that is no fault. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}

/** Data is being loaded. Shows nothing for a moment, so that quick responses do not flicker. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <div class="state loading" role="status">
      <span class="spinner" aria-hidden="true" />
      <p>Loading {what}…</p>
    </div>
  );
}

export interface FaultProps {
  readonly what: string;
  readonly fault: string;
  readonly retry?: (() => void) | undefined;
}

/** It could not be had. */
export function Fault({ what, fault, retry }: FaultProps) {
  return (
    <div class="state fault" role="alert">
      <p class="state-title">{what} could not be loaded</p>
      <p>{fault}</p>
      {retry && (
        <button type="button" onClick={retry}>
          Retry
        </button>
      )}
    </div>
  );
}

export interface NotLoadedProps {
  /** Such as `history`. */
  readonly what: string;
  readonly loaded: Loaded<unknown> & { readonly reload: () => void };
}

/** Shown instead of data that is not loaded. */
export function NotLoaded({ what, loaded: { phase, fault, reload } }: NotLoadedProps) {
  return phase === "failed" ? (
    <Fault what={`The ${what}`} fault={fault} retry={reload} />
  ) : (
    <Loading what={`the ${what}`} />
  );
}
