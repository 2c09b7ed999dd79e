import { runtimeSettings, setting } from "@evenkeel/runtime";

/** Every flag and environment variable of ballast. */
export const settings = {
  ...runtimeSettings,
  levelFile: setting.text({ help: "File that holds the tank's level, a number from 0 to 100" }),
  target: setting.integer(0, 100)({ default: "50", env: ["BALLAST_TARGET"], help: "Level to keep" }),
  tolerance: setting.integer(0, 100)({ default: "5", help: "How far the level may be off before the pump runs" }),
  interval: setting.duration({ default: "1s", help: "Time between two soundings" }),
  port: setting.port({ default: "8090", help: "Port of the harbour master's requests" }),
  radioToken: setting.text({ optional: true, secret: true, help: "Token for the harbour master's radio" }),
};
