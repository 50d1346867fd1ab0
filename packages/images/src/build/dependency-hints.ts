import type { CodeWarning } from "../code/entry.js";
import type { CodeSummary } from "../layer/layer-from-zip.js";

interface Ecosystem {
  manifests: readonly string[];
  /** Folders that hold installed dependencies when the code brings them along. */
  vendored: readonly RegExp[];
  advice: string;
}

const ECOSYSTEMS: readonly Ecosystem[] = [
  {
    manifests: ["package-lock.json", "npm-shrinkwrap.json"],
    vendored: [/^node_modules\//],
    advice: 'run "npm ci --omit=dev" and include node_modules',
  },
  {
    manifests: ["requirements.txt"],
    vendored: [/^[^/]+\.dist-info\//],
    advice: 'run "pip install --target . -r requirements.txt" before packing',
  },
];

/** Tells the user of a lock file whose dependencies are not in the code: nothing installs them yet. */
export function dependencyHints(files: CodeSummary["files"]): CodeWarning[] {
  const paths = files.map(({ path }) => path);
  return ECOSYSTEMS.flatMap(({ manifests, vendored, advice }) => {
    const manifest = manifests.find((name) => paths.includes(name));
    if (manifest === undefined || paths.some((path) => vendored.some((folder) => folder.test(path)))) return [];
    const message = `${manifest} is there, but the dependencies it lists are not, and they are not installed for you: ${advice}`;
    return [{ code: "DependenciesNotVendored" as const, message }];
  });
}
