import type { Selection } from "../client.js";
import type { KubeObject } from "../object.js";

const matchesRequirement = (labels: Record<string, string>, requirement: string): boolean => {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(requirement);
  if (set) {
    const values = (set[3] ?? "").split(",").map((value) => value.trim());
    return values.includes(labels[set[1] ?? ""] ?? "") === (set[2] === "in");
  }
  const equality = /^([^!=]+)(==|!=|=)(.*)$/.exec(requirement);
  if (equality) return (labels[equality[1] ?? ""] === equality[3]) === (equality[2] !== "!=");
  return requirement.startsWith("!") ? !(requirement.slice(1) in labels) : requirement in labels;
};

/** Label selectors of both kinds; of field selectors only `metadata.name` and `metadata.namespace`. */
export const isSelected = (object: KubeObject, selection: Selection): boolean => {
  const { namespace, labelSelector, fieldSelector } = selection;
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
  const requirements = labelSelector ? labelSelector.split(/,(?![^(]*\))/) : [];
  const labels = object.metadata.labels ?? {};
  if (!requirements.every((requirement) => matchesRequirement(labels, requirement.trim()))) return false;
  return (fieldSelector ? fieldSelector.split(",") : []).every((term) => {
    const [field, value] = term.split("=");
    if (field === "metadata.name") return object.metadata.name === value;
    if (field === "metadata.namespace") return object.metadata.namespace === value;
    throw new TypeError(`the fake client knows no field selector ${term}`);
  });
};
