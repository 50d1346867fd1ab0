const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g;

/** Values that differ between two runs or clusters by nature, by the field that holds them. */
const BY_KEY: Readonly<Record<string, string>> = {
  resourceVersion: "<version>",
  continue: "<continue>",
};

const text = (value: string, names: ReadonlyMap<string, string>): string => {
  let normalised = value.replace(UID, "<uid>").replace(TIME, "<time>");
  for (const [actual, placeholder] of names) normalised = normalised.replaceAll(actual, placeholder);
  return normalised;
};

/** Managers of a real cluster's controllers, which write beside the story's requests. */
const isControllerEntry = (value: unknown): boolean =>
  typeof (value as { manager?: unknown })?.manager === "string" &&
  ["kube-controller-manager", "kubelet", "kube-scheduler"].includes((value as { manager: string }).manager);

/**
 * A value with what differs by nature replaced by placeholders.
 * @param names what this run calls its namespace and group, by placeholder
 */
export const normalise = (value: unknown, names: ReadonlyMap<string, string>): unknown => {
  if (typeof value === "string") return text(value, names);
  if (Array.isArray(value))
    return value.filter((item) => !isControllerEntry(item)).map((item) => normalise(item, names) ?? null);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value)
    .filter(([, child]) => child !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, child]) => {
      const fixed = Object.hasOwn(BY_KEY, key) && typeof child === "string" && child !== "" ? BY_KEY[key] : undefined;
      return [text(key, names), fixed ?? normalise(child, names)] as const;
    });
  return Object.fromEntries(entries);
};

interface Difference {
  path: string;
  want: unknown;
  got: unknown;
}

const isContainer = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === "object";

/** Where two normalised values differ. */
export const findDifferences = (want: unknown, got: unknown, path = ""): Difference[] => {
  if (!isContainer(want) || !isContainer(got) || Array.isArray(want) !== Array.isArray(got))
    return JSON.stringify(want) === JSON.stringify(got) ? [] : [{ path: path || "/", want, got }];
  const keys = new Set([...Object.keys(want), ...Object.keys(got)]);
  return [...keys].flatMap((key) => findDifferences(want[key], got[key], `${path}/${key}`));
};
