export { type Kind, durationKind } from "./kinds.ts";
export { type Environment, type Reading, readSettings, type SettingSource, splitCommandLine } from "./read.ts";
export { adminTlsSettings, runtimeSettings } from "./runtime-settings.ts";
export { durationText, settingsMarkdown, type ShownSetting } from "./show.ts";
export { flagName, setting, type Setting, type SettingsOf, type SettingsTable, variableNames } from "./table.ts";
