import { readdirSync } from "node:fs";
import js from "@eslint/js";
import nx from "@nx/eslint-plugin";
import globals from "globals";
import tseslint from "typescript-eslint";

/** Dependencies point one way: apps → frame → adapters → platform → pure. Adapters never import each other. */
const layers = [
  { sourceTag: "layer:pure", onlyDependOnLibsWithTags: ["layer:pure"] },
  { sourceTag: "layer:platform", onlyDependOnLibsWithTags: ["layer:platform", "layer:pure"] },
  { sourceTag: "layer:adapter", onlyDependOnLibsWithTags: ["layer:platform", "layer:pure"] },
  { sourceTag: "layer:sim", onlyDependOnLibsWithTags: ["layer:platform", "layer:pure"] },
  { sourceTag: "layer:testkit", onlyDependOnLibsWithTags: ["layer:sim", "layer:platform", "layer:pure"] },
  { sourceTag: "layer:frame", onlyDependOnLibsWithTags: ["layer:adapter", "layer:platform", "layer:pure"] },
  {
    sourceTag: "layer:app",
    onlyDependOnLibsWithTags: ["layer:frame", "layer:adapter", "layer:platform", "layer:pure"],
  },
  { sourceTag: "layer:tool", onlyDependOnLibsWithTags: ["*"] },
];

/** Tests may also use the embedded world; those of an app, the tools that start real parts. */
const onlyInTests = {
  "layer:app": ["layer:sim", "layer:testkit", "starts:real-parts"],
  "layer:frame": ["layer:sim", "layer:testkit"],
  "layer:adapter": ["layer:sim", "layer:testkit"],
};
const layersForTests = layers.map(({ sourceTag, onlyDependOnLibsWithTags }) => ({
  sourceTag,
  onlyDependOnLibsWithTags: [...onlyDependOnLibsWithTags, ...(onlyInTests[sourceTag] ?? [])],
}));

const boundaries = (depConstraints, allow = []) => ({
  "@nx/enforce-module-boundaries": ["error", { allow, depConstraints, enforceBuildableLibDependency: false }],
});

/** Tools show, measure and drive the services, which nobody else imports. */
const apps = readdirSync(new URL("apps", import.meta.url)).flatMap((app) => [`@evenkeel/${app}`, `@evenkeel/${app}/*`]);

/** The rights in a service's chart, which the command line checks. */
const rules = "../../../../charts/**/files/rules.json";

/** What would make a decision depend on more than its snapshot. */
const impure = ["process", "fetch", "setTimeout", "setInterval", "setImmediate", "performance", "crypto"];

export default tseslint.config(
  { ignores: ["**/dist/**", "**/reports/**", "**/generated/**", ".nx/**"] },
  js.configs.recommended,
  {
    files: ["**/*.ts", "**/*.tsx"],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    plugins: { "@nx": nx },
    rules: {
      ...boundaries(layers),
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "no-console": "error",
    },
  },
  { files: ["**/*.test.ts", "**/test/**/*.ts", "**/e2e/**/*.ts"], rules: boundaries(layersForTests) },
  {
    files: ["**/src/decide/**/*.ts"],
    ignores: ["**/*.test.ts"],
    rules: {
      "no-restricted-globals": [
        "error",
        ...impure.map((name) => ({ name, message: "A decision is a pure function." })),
      ],
      "no-restricted-properties": [
        "error",
        { object: "Date", property: "now", message: "Take the time from the snapshot." },
        { object: "Math", property: "random", message: "Take randomness from the snapshot." },
      ],
      "@typescript-eslint/no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              regex: "^(?!\\./|\\.\\./decide/|@evenkeel/(scoring|placement|api|runtime)$)",
              message: "decide/ uses scoring, placement, api and itself.",
            },
            {
              regex: "^@evenkeel/(api|runtime)$",
              allowTypeImports: true,
              message: "decide/ takes types alone from here.",
            },
          ],
        },
      ],
    },
  },
  { files: ["tools/**/*.ts"], rules: { ...boundaries(layers, [...apps, rules]), "no-console": "off" } },
  { files: ["tools/demo/src/page/*.js"], languageOptions: { globals: globals.browser } },
  { files: ["**/*.mjs"], languageOptions: { globals: globals.node } },
);
