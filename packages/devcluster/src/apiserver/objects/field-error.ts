import { ApiStatusError, type StatusCause } from "../../store/api-status-error.js";

type ErrorReason =
  | "FieldValueRequired"
  | "FieldValueInvalid"
  | "FieldValueNotSupported"
  | "FieldValueDuplicate"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooMany"
  | "FieldValueTypeInvalid"
  | "FieldValueNotFound";

/** One thing wrong with a field, in the words of kube-apiserver's field.Error. */
export interface FieldError {
  field: string;
  reason: ErrorReason;
  message: string;
}

const printValue = (value: unknown): string => {
  if (value === undefined || value === null) return "null";
  return JSON.stringify(value);
};

const error = (field: string, reason: ErrorReason, message: string): FieldError => ({
  field,
  reason,
  message,
});

export const required = (field: string, detail = ""): FieldError =>
  error(field, "FieldValueRequired", detail ? `Required value: ${detail}` : "Required value");

export const invalid = (field: string, value: unknown, detail: string): FieldError =>
  error(field, "FieldValueInvalid", `Invalid value: ${printValue(value)}: ${detail}`);

export const typeInvalid = (field: string, value: unknown, detail: string): FieldError =>
  error(field, "FieldValueTypeInvalid", `Invalid value: ${printValue(value)}: ${detail}`);

export const unsupported = (field: string, value: unknown, allowed: readonly string[]): FieldError =>
  error(
    field,
    "FieldValueNotSupported",
    `Unsupported value: ${printValue(value)}: supported values: ${allowed.map(printValue).join(", ")}`,
  );

export const duplicate = (field: string, value: unknown): FieldError =>
  error(field, "FieldValueDuplicate", `Duplicate value: ${printValue(value)}`);

export const forbiddenField = (field: string, detail: string): FieldError =>
  error(field, "FieldValueForbidden", `Forbidden: ${detail}`);

export const tooLong = (field: string, maximum: number): FieldError =>
  error(field, "FieldValueTooLong", `Too long: may not be more than ${maximum} bytes`);

export const tooMany = (field: string, actual: number, maximum: number): FieldError =>
  error(field, "FieldValueTooMany", `Too many: ${actual}: must have at most ${maximum} items`);

const summarise = (errors: readonly FieldError[]): string => {
  const texts = [...new Set(errors.map(({ field, message }) => `${field}: ${message}`))];
  return texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`;
};

const toCauses = (errors: readonly FieldError[]): StatusCause[] =>
  errors.map(({ field, reason, message }) => ({ reason, message, field }));

/** 422 Invalid with one cause per error. */
export const invalidObject = (
  type: { group: string; kind: string },
  name: string,
  errors: readonly FieldError[],
): ApiStatusError => {
  const qualified = type.group === "" ? type.kind : `${type.kind}.${type.group}`;
  const message = `${qualified} ${JSON.stringify(name)} is invalid: ${summarise(errors)}`;
  return new ApiStatusError(422, "Invalid", message, {
    ...(name ? { name } : {}),
    ...(type.group === "" ? {} : { group: type.group }),
    kind: type.kind,
    causes: toCauses(errors),
  });
};

/** 422 for the options of a request: `CreateOptions`, `PatchOptions`, … */
export const invalidOptions = (kind: string, errors: readonly FieldError[]): ApiStatusError =>
  invalidObject({ group: "meta.k8s.io", kind }, "", errors);
