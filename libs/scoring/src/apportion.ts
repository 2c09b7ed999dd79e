import { DuplicateName, MinimumsExceedTotal, WrongOrder } from "./errors.ts";
import { checkCount, checkNotNegative } from "./checks.ts";
import { type Claim, type Quota, withQuotas } from "./quotas.ts";
import { proportions } from "./rational.ts";

export interface Share {
  readonly name: string;
  /**
   * Its proportion of the total, at least 0; taken as the decimal it is written as. A share of weight 0 is given
   * nothing beyond its minimum, and loses what it holds only as far as that fits elsewhere.
   */
  readonly weight: number;
  /** The least it may get; 0 if absent. */
  readonly minimum?: number;
  /** The most it may get; absent if there is no limit. */
  readonly cap?: number;
}

/** How many each name holds. */
export type Placement = Readonly<Record<string, number>>;

export interface Apportionment {
  /** One part for each share. */
  readonly parts: Placement;
  /** What the caps left no room for. */
  readonly unplaced: number;
}

/**
 * Splits `total` replicas over `shares`: the parts add up to `total` less `unplaced`, no part exceeds its `cap`, and
 * where no cap or minimum binds each part is within one of its exact quota. Ties go to the holder in `previous`, and
 * raising `total` takes from no holder, so a scale-up never kills a pod elsewhere. What does not fit is `unplaced`; it
 * is never dropped.
 *
 * The quota of a share is `total · weight / Σ weight`; where caps and minimums bind, what they cut off or add is
 * divided over the other shares in their proportions. How quotas are rounded depends on what the shares hold in
 * `previous`, within their caps:
 *
 *     holds              each part                                              among such placements
 *     nothing            its quota rounded down or up                           largest remainder is rounded up
 *     less than total    at least what it holds; may thereby exceed its quota   least shortfall from quota
 *     total or more      its quota rounded down or up                           fewest moves
 *
 * So a scale-up, a lost cluster and a lowered cap only add, and with an unchanged total nothing moves while each
 * holding is within one of its quota; a greater change of weights moves what the quotas ask for. Only a raised minimum
 * can take from a holder when there is something to add, and takes no more than it needs. What remains equal goes to
 * the greater holder, then to the greater weight, then to the name that sorts first; the order of `shares` does not
 * matter. All else being equal, more weight never makes a share's own part smaller.
 *
 * Throws a ScoringError that names the share for what is not a number as described, a name that is listed twice, a
 * minimum above its cap, and minimums that add up to more than `total`.
 */
export function apportion(total: number, shares: readonly Share[], previous: Placement = {}): Apportionment {
  const slots = withQuotas(total, claimsOf(total, shares, previous));
  const adding = total > sum(slots, (slot) => slot.held);
  const short = total > sum(slots, roundedUp);
  for (const slot of slots) {
    slot.low = adding ? slot.minimum : slot.whole;
    slot.high = adding ? slot.cap : roundedUp(slot);
    if (slot.weight === 0n && short) slot.high = Math.max(slot.minimum, slot.held);
  }
  // From what is kept within these bounds the way to the total is one way only, so nothing moves that need not.
  const giving = total >= sum(slots, kept);
  for (const slot of slots) {
    if (giving) slot.low = kept(slot);
    else slot.high = kept(slot);
  }
  const room = sum(slots, (slot) => slot.high);
  const placed = Math.min(total, room);
  return { parts: level(placed, slots), unplaced: total - placed };
}

interface Holder extends Claim {
  readonly name: string;
  /** What `previous` says, within the cap. */
  readonly held: number;
  /** The bounds within which its quota is rounded. */
  low: number;
  high: number;
}

type Slot = Holder & Quota;

/**
 * Lowers every quota by the same amount, which may be negative, and rounds it up within the slot's bounds, so that the
 * parts add up to `placed`. With bounds that leave room this is largest remainder: the amount is then the first
 * remainder that loses. Where low bounds take more than their quotas, it is the least shortfall that the others can be
 * made to share.
 */
function level(placed: number, slots: readonly Slot[]): Placement {
  const lowered = (by: number) => (slot: Slot) => clamp(slot.whole - by, slot.low, slot.high);
  let least = slots.reduce((by, slot) => Math.min(by, slot.whole - slot.high), 0);
  let most = slots.reduce((by, slot) => Math.max(by, slot.whole - slot.low), 0);
  const probe = (by: number) => {
    if (sum(slots, lowered(by)) <= placed) most = Math.min(most, by);
    else least = Math.max(least, by + 1);
  };
  // Only holders far above their quotas make it more than one, so the search seldom goes on after these two.
  probe(0);
  probe(-1);
  while (least < most) probe(least + Math.floor((most - least) / 2));
  const [down, up] = [lowered(least), lowered(least - 1)];
  const undecided = slots.filter((slot) => up(slot) > down(slot)).sort(byRemainder);
  const winners = new Set(undecided.slice(0, placed - sum(slots, down)));
  return Object.fromEntries(slots.map((slot) => [slot.name, winners.has(slot) ? up(slot) : down(slot)]));
}

function byRemainder(a: Slot, b: Slot): number {
  if (a.remainder !== b.remainder) return a.remainder > b.remainder ? -1 : 1;
  if (a.held !== b.held) return b.held - a.held;
  if (a.weight !== b.weight) return a.weight > b.weight ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

function claimsOf(total: number, shares: readonly Share[], previous: Placement): Holder[] {
  checkCount(total, "the total");
  checkShares(total, shares);
  const weights = proportions(shares.map((share) => share.weight));
  return shares.map(({ name, minimum = 0, cap = total }, index) => ({
    name,
    weight: weights[index] ?? 0n,
    minimum,
    cap: Math.min(cap, total),
    held: Math.min(heldIn(previous, name), cap, total),
    low: 0,
    high: 0,
  }));
}

function checkShares(total: number, shares: readonly Share[]): void {
  const names = new Set<string>();
  for (const share of shares) {
    checkShare(share);
    if (names.has(share.name)) throw new DuplicateName({ what: `share ${JSON.stringify(share.name)}` });
    names.add(share.name);
  }
  if (sum(shares, ({ minimum = 0 }) => minimum) <= total) return;
  const greatest = shares.reduce((a, b) => ((b.minimum ?? 0) > (a.minimum ?? 0) ? b : a));
  throw new MinimumsExceedTotal({
    total: String(total),
    name: JSON.stringify(greatest.name),
    minimum: String(greatest.minimum),
  });
}

function checkShare({ name, weight, minimum = 0, cap = minimum }: Share): void {
  checkNotNegative(weight, "the weight of share", name);
  checkCount(minimum, "the minimum of share", name);
  checkCount(cap, "the cap of share", name);
  if (minimum <= cap) return;
  throw new WrongOrder({ lower: `the minimum ${minimum} of share ${JSON.stringify(name)}`, upper: `its cap ${cap}` });
}

function heldIn(previous: Placement, name: string): number {
  const held = Object.hasOwn(previous, name) ? (previous[name] ?? 0) : 0;
  checkCount(held, "what is held by share", name);
  return held;
}

function kept(slot: Slot): number {
  return clamp(slot.held, slot.low, slot.high);
}

function roundedUp(slot: Slot): number {
  return slot.remainder > 0n ? slot.whole + 1 : slot.whole;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

/** Exact up to 2^53; a greater sum stays greater than any total. */
function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((all, item) => all + value(item), 0);
}
