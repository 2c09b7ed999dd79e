import { type Setting, setting } from "@evenkeel/runtime";
import { ADDRESS_FORMS, tryAddress } from "./address.ts";

const address: Setting<string> = {
  kind: {
    name: "address",
    takes: `one of ${ADDRESS_FORMS}`,
    parse: (text) => (tryAddress(text) ? text : undefined),
  },
  help: "Where shared state is kept: a SQLite file or memory for one replica, Redis for several",
  default: "sqlite::memory:",
  presence: "defaulted",
  env: [],
  aliases: [],
  // It can hold a password.
  secret: true,
};

/** What a service with shared state can be told; part of its table: `{ ...runtimeSettings, ...stateSettings, … }`. */
export const stateSettings = {
  state: address,
  stateDeadline: setting.duration({ default: "2s", help: "How long one call to Redis may take" }),
};
