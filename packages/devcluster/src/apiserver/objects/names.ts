import { randomInt } from "node:crypto";
import { invalid, tooLong, type FieldError } from "./field-error.js";

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const DNS_1035_LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED_NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const MAX_LABEL = 63;
const MAX_SUBDOMAIN = 253;

const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035_RULE =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const LABEL_VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

export type NameRule = "subdomain" | "label" | "label1035" | "pathSegment";

const RULES: Readonly<Record<Exclude<NameRule, "pathSegment">, [RegExp, number, string]>> = {
  subdomain: [DNS_SUBDOMAIN, MAX_SUBDOMAIN, SUBDOMAIN_RULE],
  label: [DNS_LABEL, MAX_LABEL, LABEL_RULE],
  label1035: [DNS_1035_LABEL, MAX_LABEL, LABEL_1035_RULE],
};

const checkPathSegment = (field: string, name: string): FieldError[] => {
  if (name === "." || name === "..") return [invalid(field, name, `may not be '${name}'`)];
  return ["/", "%"]
    .filter((char) => name.includes(char))
    .map((char) => invalid(field, name, `may not contain '${char}'`));
};

/** What is wrong with a name under a rule of apimachinery's validation package. */
export const checkName = (field: string, name: string, rule: NameRule): FieldError[] => {
  if (rule === "pathSegment") return checkPathSegment(field, name);
  if (rule === "label" && name.includes(".")) return [invalid(field, name, "must not contain dots")];
  const [pattern, maximum, message] = RULES[rule];
  const errors: FieldError[] = [];
  if (name.length > maximum) errors.push(invalid(field, name, `must be no more than ${maximum} characters`));
  // The patterns are linear, but a name beyond any bound need not be matched at all.
  if (name.length > 4 * MAX_SUBDOMAIN || !pattern.test(name)) errors.push(invalid(field, name, message));
  return errors;
};

export const isDnsLabel = (name: string): boolean => name.length <= MAX_LABEL && DNS_LABEL.test(name);

const NAME_PART_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const prefixProblems = (prefix: string): string[] => {
  if (prefix === "") return ["prefix part must be non-empty"];
  return DNS_SUBDOMAIN.test(prefix) ? [] : [`prefix part ${SUBDOMAIN_RULE}`];
};

const namePartProblems = (name: string): string[] => [
  ...(name === "" ? ["name part must be non-empty"] : []),
  ...(name.length > MAX_LABEL ? [`name part must be no more than ${MAX_LABEL} characters`] : []),
  ...(QUALIFIED_NAME.test(name) ? [] : [`name part ${NAME_PART_RULE}`]),
];

const qualifiedNameProblems = (key: string): string[] => {
  const [first = "", second, ...more] = key.split("/");
  if (more.length > 0)
    return [
      `a qualified name ${NAME_PART_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  return second === undefined ? namePartProblems(first) : [...prefixProblems(first), ...namePartProblems(second)];
};

/** `[prefix/]name` as label and annotation keys and finalizers have it. */
export const checkQualifiedName = (field: string, key: string, value: unknown = key): FieldError[] =>
  qualifiedNameProblems(key).map((problem) => invalid(field, value, problem));

export const checkLabels = (field: string, labels: Readonly<Record<string, unknown>>): FieldError[] =>
  Object.entries(labels).flatMap(([key, value]) => {
    const errors = checkQualifiedName(field, key);
    const text = String(value);
    if (text.length > MAX_LABEL) errors.push(invalid(field, text, `must be no more than ${MAX_LABEL} characters`));
    if (!LABEL_VALUE.test(text)) errors.push(invalid(field, text, LABEL_VALUE_RULE));
    return errors;
  });

const MAX_ANNOTATIONS_BYTES = 256 * 1024;

export const checkAnnotations = (field: string, annotations: Readonly<Record<string, unknown>>): FieldError[] => {
  const errors = Object.keys(annotations).flatMap((key) => checkQualifiedName(field, key.toLowerCase(), key));
  const bytes = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)),
    0,
  );
  return bytes > MAX_ANNOTATIONS_BYTES ? [...errors, tooLong(field, MAX_ANNOTATIONS_BYTES)] : errors;
};

const SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;
const MAX_GENERATED = MAX_LABEL;

/** `base` cut so that five random characters fit, as apiserver's SimpleNameGenerator does. */
export const generateName = (base: string): string => {
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => SUFFIX_ALPHABET[randomInt(SUFFIX_ALPHABET.length)]);
  return base.slice(0, MAX_GENERATED - SUFFIX_LENGTH) + suffix.join("");
};
