import { type ComponentChildren, Fragment } from "preact";
import { useState } from "preact/hooks";
import { useWatched, type WatchedKind } from "../live/use-watched.ts";
import { Loading } from "../parts/states.tsx";
import { routeLink } from "../shell/route.ts";
import type { PageProps } from "../view.ts";
import { keyOf, type ObjectName } from "./object-name.ts";

export interface ObjectsPageProps<T> extends Pick<PageProps, "api" | "query">, WatchedKind<T> {
  /** What one of them is called, such as `Service`; in small letters it is in the address of the page. */
  readonly kind: string;
  /** Shown if there are no objects. */
  readonly empty: ComponentChildren;
  /** What the list shows of an object after its name: a badge and two facts. */
  readonly entry: (object: T) => ComponentChildren;
  readonly detail: (object: T) => ComponentChildren;
}

/** Maximum number of objects without a search field. */
const EASILY_SEEN = 8;

/** Every object of a kind in a list, followed live, and the chosen one in full. */
export function ObjectsPage<T>({ api, query, empty, detail, ...props }: ObjectsPageProps<T>) {
  const objects = useWatched<T>(api, props);
  if (!objects) return <Loading what={`${props.kind}s`} />;
  const asked = objects.get(query[props.kind.toLowerCase()] ?? "");
  const chosen = asked ?? objects.values().next().value;
  if (chosen === undefined) return empty;
  const key = keyOf(props.nameOf(chosen));
  return (
    <div class={objects.size > 1 ? "objects-page" : ""}>
      {objects.size > 1 && <ObjectList {...props} objects={objects} chosen={key} />}
      <Fragment key={key}>{detail(chosen)}</Fragment>
    </div>
  );
}

interface ObjectListProps<T> extends Pick<ObjectsPageProps<T>, "kind" | "nameOf" | "entry"> {
  readonly objects: ReadonlyMap<string, T>;
  readonly chosen: string;
}

function ObjectList<T>({ kind, nameOf, entry, objects, chosen }: ObjectListProps<T>) {
  const [text, setText] = useState("");
  const found = [...objects].filter(([key]) => key.includes(text.trim()));
  return (
    <div class="object-list">
      {objects.size > EASILY_SEEN && (
        <input
          type="search"
          aria-label={`Find a ${kind}`}
          placeholder={`Find one of ${objects.size}`}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
      <ul>
        {found.map(([key, object]) => (
          <li key={key}>
            <a href={routeLink("", { [kind.toLowerCase()]: key })} aria-current={key === chosen ? "true" : undefined}>
              <span class="entry-name">
                <Namespace {...nameOf(object)} />
                {nameOf(object).name}
              </span>
              {entry(object)}
            </a>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="quiet">No match.</p>}
    </div>
  );
}

function Namespace({ namespace }: ObjectName) {
  return namespace === "" ? null : (
    <>
      <span class="quiet">{namespace}/</span>
      <wbr />
    </>
  );
}
