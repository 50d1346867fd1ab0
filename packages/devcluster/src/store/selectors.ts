import { badRequest } from "./api-status-error.js";
import type { KubeObject } from "./types.js";

type Predicate = (labels: Readonly<Record<string, string>>) => boolean;

const MAX_SELECTOR_LENGTH = 8192;
const KEY = String.raw`([A-Za-z0-9][-A-Za-z0-9_./]{0,316})`;
const SET_TERM = new RegExp(String.raw`^${KEY}\s+(in|notin)\s*\(([^()]*)\)$`);
const EQUALITY_TERM = new RegExp(String.raw`^${KEY}\s*(==|!=|=)\s*([-A-Za-z0-9_.]*)$`);
const EXISTS_TERM = new RegExp(String.raw`^(!?)\s*${KEY}$`);

/** Splits at commas outside parentheses: `a in (b,c),d` is two terms. */
const splitTerms = (selector: string): string[] => {
  const terms: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < selector.length; i++) {
    const char = selector[i];
    if (char === "(") depth++;
    else if (char === ")") depth--;
    else if (char === "," && depth === 0) {
      terms.push(selector.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(selector.slice(start));
  return terms.map((term) => term.trim());
};

const parseSetTerm = (match: RegExpMatchArray): Predicate => {
  const key = match[1] ?? "";
  const values = new Set((match[3] ?? "").split(",").map((value) => value.trim()));
  return match[2] === "in"
    ? (labels) => Object.hasOwn(labels, key) && values.has(labels[key] ?? "")
    : (labels) => !Object.hasOwn(labels, key) || !values.has(labels[key] ?? "");
};

const parseLabelTerm = (term: string): Predicate => {
  const set = SET_TERM.exec(term);
  if (set) return parseSetTerm(set);
  const equality = EQUALITY_TERM.exec(term);
  if (equality) {
    const [, key = "", operator, value = ""] = equality;
    return operator === "!="
      ? (labels) => !Object.hasOwn(labels, key) || labels[key] !== value
      : (labels) => Object.hasOwn(labels, key) && labels[key] === value;
  }
  const exists = EXISTS_TERM.exec(term);
  if (exists) {
    const [, negated, key = ""] = exists;
    return (labels) => Object.hasOwn(labels, key) !== (negated === "!");
  }
  throw badRequest(`unable to parse requirement: found '${term}', expected a label selector term`);
};

const bounded = (selector: string): string => {
  if (selector.length > MAX_SELECTOR_LENGTH)
    throw badRequest(`selector is longer than ${MAX_SELECTOR_LENGTH} characters`);
  return selector.trim();
};

/** Parses `a=b,c in (d,e),!f`; throws 400 on anything else. */
export const parseLabelSelector = (selector: string | undefined): ((object: KubeObject) => boolean) | undefined => {
  const text = bounded(selector ?? "");
  if (text === "") return undefined;
  const terms = splitTerms(text).map(parseLabelTerm);
  return (object) => {
    const labels = object.metadata.labels ?? {};
    return terms.every((matches) => matches(labels));
  };
};

/** Field paths that every kind can be selected by; others are named per kind. */
const COMMON_FIELDS = ["metadata.name", "metadata.namespace"];

/** Further fields a kind can be selected by, as kube-apiserver has them. */
const FIELDS_BY_KIND: Readonly<Record<string, readonly string[]>> = {
  Pod: ["spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName", "status.phase", "status.podIP"],
  Event: [
    ...["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map(
      (field) => `involvedObject.${field}`,
    ),
    "reason",
    "reportingComponent",
    "source",
    "type",
  ],
  Namespace: ["status.phase"],
  Secret: ["type"],
  Node: ["spec.unschedulable"],
  Job: ["status.successful"],
  ReplicaSet: ["status.replicas"],
};

const readField = (object: KubeObject, path: string): string => {
  // Of an event, `source` means its component.
  const segments = path === "source" ? ["source", "component"] : path.split(".");
  const value = segments.reduce<unknown>(
    (parent, segment) =>
      parent !== null && typeof parent === "object" ? (parent as Record<string, unknown>)[segment] : undefined,
    object,
  );
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
};

/** Parses `metadata.name=x,status.phase!=Running` for a kind; throws 400 on a field that it is not selectable by. */
export const parseFieldSelector = (
  selector: string | undefined,
  kind: string,
): ((object: KubeObject) => boolean) | undefined => {
  const text = bounded(selector ?? "");
  if (text === "") return undefined;
  const terms = text.split(",").map((term) => {
    const match = /^([A-Za-z.]+)(==|!=|=)(.*)$/s.exec(term.trim());
    if (!match) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
    const [, field = "", operator, value = ""] = match;
    if (![...COMMON_FIELDS, ...(FIELDS_BY_KIND[kind] ?? [])].includes(field))
      throw badRequest(`field label not supported: ${field}`);
    return { field, value, negated: operator === "!=" };
  });
  return (object) => terms.every(({ field, value, negated }) => (readField(object, field) === value) !== negated);
};
