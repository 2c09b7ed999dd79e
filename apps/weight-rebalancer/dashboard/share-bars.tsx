import { Card, Empty, shareText, Time } from "@evenkeel/dashboard/browser";
import { earlierShare, placeOf, type Point, type Weight } from "./weight.ts";

/** The share of the target in the traffic, before the last change and now. */
export function ShareBars({ weight, points }: { readonly weight: Weight; readonly points: readonly Point[] }) {
  const [first] = weight.targets;
  const earlier = earlierShare(points);
  const name = placeOf(weight).title;
  return (
    <Card title="Share per environment">
      {first?.share === undefined ? (
        <Empty title="The share is unknown">
          It appears after the target and the weights next to it have been read.
        </Empty>
      ) : (
        <>
          <dl class="shares">
            {earlier && (
              <>
                <dt>
                  Before{" "}
                  <span class="quiet">
                    until <Time at={earlier.at} />
                  </span>
                </dt>
                <dd>
                  <Bar share={earlier.share} name={name} quiet />
                </dd>
              </>
            )}
            <dt>Now</dt>
            <dd>
              <Bar share={first.share} name={name} />
            </dd>
          </dl>
          <ul class="legend">
            <li>
              <span class="square accent" aria-hidden="true" /> {name}
            </li>
            <li>
              <span class="square" aria-hidden="true" /> the others, base {weight.baseValue}
            </li>
          </ul>
        </>
      )}
    </Card>
  );
}

function Bar({
  share,
  name,
  quiet = false,
}: {
  readonly share: number;
  readonly name: string;
  readonly quiet?: boolean;
}) {
  return (
    <div class={`share-bar ${quiet ? "past" : ""}`}>
      <span class="share-text">{shareText(share)}</span>
      <span
        class="share-track"
        role="img"
        aria-label={`${name} ${shareText(share)}, the others ${shareText(1 - share)}`}
      >
        <span class="share-fill" style={{ width: `${share * 100}%` }} />
      </span>
      <span class="share-text quiet">{shareText(1 - share)}</span>
    </div>
  );
}
