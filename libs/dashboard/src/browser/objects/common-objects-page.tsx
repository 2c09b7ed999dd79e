import { Badge } from "../parts/badge.tsx";
import { type Condition, Conditions } from "../parts/conditions.tsx";
import { Empty } from "../parts/states.tsx";
import type { PageProps } from "../view.ts";
import { valueText } from "../words/value-text.ts";
import { LastDecisions, useDecisionsOf } from "./object-decisions.tsx";
import { ObjectHead } from "./object-head.tsx";
import { keyOf, type ObjectName } from "./object-name.ts";
import { ObjectsPage } from "./objects-page.tsx";

/** `common.v1.ObjectView` in JSON: what is unknown is absent. */
interface CommonObject {
  readonly name: ObjectName;
  readonly value?: unknown;
  readonly reason: string;
  readonly message: string;
  readonly decidedAt?: string;
  readonly dryRun: boolean;
  readonly paused: boolean;
  readonly conditions: readonly Condition[];
}

interface Kind {
  readonly kind: string;
}

/**
 * The objects of a service that serves `common.v1.Objects`: each with its last decision, its conditions, Pause and
 * Resume.
 */
export function CommonObjectsPage({ query, kind, ...page }: PageProps & Kind) {
  return (
    <ObjectsPage<CommonObject>
      api={page.api}
      query={query}
      kind={kind}
      watch="Objects/Watch"
      field="object"
      nameOf={({ name }) => name}
      empty={<Empty title={`No ${kind} found`} />}
      entry={(object) => <State {...object} />}
      detail={(object) => <Detail {...page} kind={kind} object={object} />}
    />
  );
}

function Detail({ object, kind, ...page }: Omit<PageProps, "query"> & Kind & { readonly object: CommonObject }) {
  const { name, paused, dryRun, conditions } = object;
  const key = keyOf(name);
  const about = `${kind}/${key}`;
  const decisions = useDecisionsOf(about, page);
  const title = paused ? "Resume" : "Pause";
  const consequence = paused
    ? `${page.service} acts on ${about} again.`
    : `${page.service} stops acting on ${about} until you resume it.`;
  const action = { title, consequence, method: `Objects/${title}`, request: { object: name } };
  return (
    <article aria-label={key}>
      <ObjectHead name={name} decided={object} actions={[action]} act={page.act}>
        <State {...object} />
        {dryRun && <Badge tone="quiet">Dry run</Badge>}
      </ObjectHead>
      <Conditions conditions={conditions} />
      <LastDecisions {...page} {...{ object: about, decisions }} />
    </article>
  );
}

function State({ paused, value }: CommonObject) {
  if (paused) return <Badge tone="warn">Paused</Badge>;
  return <Badge tone={value === undefined ? "quiet" : "ok"}>{valueText(value)}</Badge>;
}
