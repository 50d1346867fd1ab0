import { LIMITS } from "@sless/contracts";

// eslint-disable-next-line no-control-regex -- control characters are exactly what must not reach a terminal
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * Text of foreign origin (tenant code, kubelet, registry) as a condition may carry it: without control characters
 * (security 17) and at most `max` UTF-16 units.
 */
export const boundedText = (text: string, max: number = LIMITS.messageLength): string => {
  const clean = text
    .slice(0, max * 4)
    .replace(CONTROL, " ")
    .replace(LONE_SURROGATE, "\ufffd")
    .trim();
  return clean.length <= max ? clean : `${clean.slice(0, max - 1).replace(/[\ud800-\udbff]$/, "")}…`;
};
