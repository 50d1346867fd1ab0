import { z } from "zod";
import { readBounded } from "./bounded-body.js";
import {
  RegistryDenied,
  RegistryNotFound,
  RegistryRefused,
  RegistryUnavailable,
  type RegistryError,
} from "./errors.js";
import type { RegistryAnswer } from "./transport.js";

const ERROR_BYTES = 64 << 10;
const MESSAGE_LENGTH = 300;

/** Distribution specification, "error codes". */
const ErrorDocument = z.object({
  errors: z.array(z.object({ code: z.string().max(100), message: z.string().optional() })).max(100),
});

/** Turns an answer that was not expected into an error; consumes its body. */
export async function toRegistryError(what: string, answer: RegistryAnswer): Promise<RegistryError> {
  const { status, url } = answer;
  const { codes, text } = await readErrors(answer);
  const message = `Can't ${what}: ${url.host} answered ${status}${text}`;
  if (status === 401 || status === 403) return new RegistryDenied(message);
  if (status === 404) return new RegistryNotFound(message);
  if (isTransient(status)) return new RegistryUnavailable(message, {}, retryAfter(answer));
  return new RegistryRefused(message, status, codes);
}

function isTransient(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501);
}

async function readErrors(answer: RegistryAnswer): Promise<{ codes: string[]; text: string }> {
  try {
    const body = await readBounded(answer.body, ERROR_BYTES, "An error");
    const { errors } = ErrorDocument.parse(JSON.parse(body.toString("utf8")));
    const text = errors.map(({ code, message }) => `${code}${message === undefined ? "" : ` ${message}`}`).join("; ");
    return { codes: errors.map(({ code }) => code), text: text && `: ${text.slice(0, MESSAGE_LENGTH)}` };
  } catch {
    // Proxies answer in HTML; the status says enough.
    return { codes: [], text: "" };
  }
}

function retryAfter({ headers }: RegistryAnswer): number | undefined {
  const seconds = Number(headers["retry-after"]);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
