import { isObject } from "../schema/schema.js";
import { listAt, textAt } from "../table/read.js";

type Labels = Readonly<Record<string, string>>;

const matchesExpression = (labels: Labels, expression: Record<string, unknown>): boolean => {
  const key = textAt(expression, "key");
  const values = (Array.isArray(expression["values"]) ? expression["values"] : []) as unknown[];
  const has = Object.hasOwn(labels, key);
  switch (expression["operator"]) {
    case "In":
      return has && values.includes(labels[key]);
    case "NotIn":
      return !has || !values.includes(labels[key]);
    case "Exists":
      return has;
    case "DoesNotExist":
      return !has;
    default:
      return false;
  }
};

/** A `LabelSelector` object (`matchLabels`, `matchExpressions`) as a predicate on labels. */
export const parseObjectSelector =
  (selector: unknown): ((labels: Labels) => boolean) =>
  (labels) => {
    const wanted = isObject(selector) && isObject(selector["matchLabels"]) ? selector["matchLabels"] : {};
    return (
      Object.entries(wanted).every(([key, value]) => labels[key] === value) &&
      listAt(selector, "matchExpressions").every((expression) => matchesExpression(labels, expression))
    );
  };
