import js from "@eslint/js";
import importX from "eslint-plugin-import-x";
import tseslint from "typescript-eslint";

const KUBERNETES_CLIENT = "@kubernetes/client-node";
const APPS = ["@sless/api", "@sless/controller", "@sless/gateway", "@sless/cli"];

/** Forbids importing the given packages; later entries of the same rule replace earlier ones, so each area lists all. */
const forbid = (paths) => ({
  "@typescript-eslint/no-restricted-imports": ["error", { paths: paths.map(([name, message]) => ({ name, message })) }],
});
const kubeOnly = [KUBERNETES_CLIENT, "Only packages/kube talks to the Kubernetes client: import from @sless/kube."];
const noApps = APPS.map((app) => [app, "Imports go apps → packages → contracts: an app is never imported."]);

export default tseslint.config(
  {
    ignores: ["**/dist/**", "**/generated/**", "**/node_modules/**", "**/coverage/**", "**/.turbo/**", "**/.sless/**"],
  },
  js.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [...tseslint.configs.recommendedTypeChecked],
    plugins: { "import-x": importX },
    languageOptions: { parserOptions: { project: "./tsconfig.json", tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "import-x/no-default-export": "error",
      "no-restricted-syntax": [
        "error",
        { selector: "ExportAllDeclaration", message: "Name what is exported: no `export *` barrels." },
      ],
      complexity: ["error", 10],
      "max-depth": ["error", 3],
      "max-params": ["error", 4],
      "no-console": "error",
      ...forbid([kubeOnly, ...noApps]),
    },
  },
  { files: ["packages/kube/**/*.ts"], rules: forbid(noApps) },
  {
    files: ["packages/contracts/**/*.ts"],
    rules: {
      "@typescript-eslint/no-restricted-imports": [
        "error",
        {
          patterns: [
            { group: ["@sless/*"], message: "contracts stands at the bottom and imports no package of sless." },
          ],
        },
      ],
    },
  },
  {
    files: ["**/*.test.ts"],
    rules: { "@typescript-eslint/no-unsafe-assignment": "off", "@typescript-eslint/no-unsafe-member-access": "off" },
  },
  {
    files: ["**/*.mjs", "**/*.js"],
    languageOptions: {
      globals: {
        process: "readonly",
        console: "readonly",
        URL: "readonly",
        setTimeout: "readonly",
        Buffer: "readonly",
      },
    },
  },
);
