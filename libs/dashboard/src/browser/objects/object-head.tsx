import type { ComponentChildren } from "preact";
import { Badge } from "../parts/badge.tsx";
import { Time } from "../parts/time.tsx";
import type { Action, PageProps } from "../view.ts";
import type { ObjectName } from "./object-name.ts";

export interface ObjectHeadProps extends Pick<PageProps, "act"> {
  readonly name: ObjectName;
  /** What was decided of it last. */
  readonly decided: { readonly reason: string; readonly message: string; readonly decidedAt?: string };
  readonly actions: readonly Action[];
  /** Badges after the name. */
  readonly children: ComponentChildren;
}

/** An object's name, its state, and the actions for it. */
export function ObjectHead({ name, decided: { reason, message, decidedAt }, actions, act, children }: ObjectHeadProps) {
  return (
    <header class="object-head">
      <div class="object-title">
        <h2>
          {name.namespace !== "" && <span class="quiet">{name.namespace}/</span>}
          {name.name}
        </h2>
        {children}
        <span class="object-actions">
          {actions.map((action) => (
            <button key={action.title} type="button" onClick={() => void act(action)}>
              {action.title}
            </button>
          ))}
        </span>
      </div>
      <p class="object-message">
        {reason !== "" && <Badge tone="accent">{reason}</Badge>} {message || "No decision yet."}
        {decidedAt !== undefined && (
          <span class="quiet">
            {" "}
            <Time at={decidedAt} />
          </span>
        )}
      </p>
    </header>
  );
}
