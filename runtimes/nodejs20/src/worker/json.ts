import { BadResult, typeName } from "./bad-result.js";

const isNotFinite = (value: unknown): boolean => typeof value === "number" && !Number.isFinite(value);

/** `JSON.stringify` writes NaN and the infinities as null; looks for one, only where a null was written at all. */
const refuseNotFinite = (value: unknown): void => {
  JSON.stringify(value, (_key, part: unknown) => {
    if (isNotFinite(part)) throw new BadResult(`the result holds ${String(part)}, which JSON cannot express`);
    return part;
  });
};

/**
 * @returns JSON text of a handler's result
 * @throws BadResult naming the type that JSON has no form for
 */
export const toJson = (value: unknown): string => {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    throw new BadResult(`a result of type ${typeName(value)} cannot be made into JSON: ${reason}`);
  }
  if (text === undefined) throw new BadResult(`a result of type ${typeName(value)} has no form in JSON`);
  if (text.includes("null")) refuseNotFinite(value);
  return text;
};
