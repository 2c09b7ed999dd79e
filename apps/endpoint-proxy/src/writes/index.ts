export type { SplitMember, SplitSnapshot } from "../decide/split-snapshot.ts";
export { NO_POLICY } from "../decide/split-policy.ts";
export { splitDecider } from "../decide/split.ts";
export type { MemberClient } from "../members/member-client.ts";
export type { Member } from "../members/member.ts";
export { BegunWrites } from "./begun-writes.ts";
export { MemberAnswers } from "./member-answers.ts";
export { PlacedSince } from "./placed-since.ts";
