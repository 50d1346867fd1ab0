import type { ProblemKind } from "./problem.js";

/** What each kind of problem means and what to do about it: the text of `/errors` and of docs/api-errors.md. */
export const PROBLEM_TEXTS: Readonly<Record<ProblemKind, { readonly means: string; readonly remedy: string }>> = {
  "invalid-request": {
    means: "Fields, parameters or headers are wrong. `errors` names each with a JSON pointer.",
    remedy: "Mend what `errors` names; all of it is listed at once.",
  },
  "invalid-json": {
    means: "The body is not JSON in UTF-8, is cut off, or is nested too deep.",
    remedy: "Send one JSON object as application/json.",
  },
  "invalid-code": {
    means: "The zip is not one, is damaged, breaks a limit, or lacks the file that the entrypoint names.",
    remedy: "Mend the zip as `detail` says. Sending it again unchanged will not help.",
  },
  unauthenticated: {
    means: "There is no token, or it is expired, meant for another service, or not signed by the issuer.",
    remedy: "Log in again and send the token as Authorization: Bearer.",
  },
  forbidden: {
    means: "The token is good and not for this namespace.",
    remedy: "Use your own namespace, or `me`.",
  },
  "not-found": {
    means: "There is no such path, namespace, function, version or trigger.",
    remedy: "Check the name. Lists show what is there.",
  },
  "method-not-allowed": { means: "The path exists and the method does not.", remedy: "Use one that Allow names." },
  "request-timeout": {
    means: "The request did not come in whole within the time it may take.",
    remedy: "Send it again, faster, or over a better connection.",
  },
  "headers-too-large": {
    means: "The request's headers are above the limit.",
    remedy: "Send fewer or shorter headers.",
  },
  "not-implemented": {
    means: "The request asks for something that HTTP knows and the platform does not do.",
    remedy: "`detail` names it. Send the request without it.",
  },
  conflict: {
    means:
      "The state of things does not allow it now: a deletion is going on, a quota is used up, a version is not ready.",
    remedy: "`reason` and `detail` say what stands in the way.",
  },
  "already-exists": {
    means: "Something of this name is there.",
    remedy: "Change it with PUT or PATCH, or take another name.",
  },
  expired: { means: "The cursor of a list is too old.", remedy: "Begin the list anew, without `continue`." },
  "precondition-failed": {
    means: "The item changed since you read it: If-Match does not name what is there.",
    remedy: "Read it again and repeat the change. ETag is the current one.",
  },
  "too-large": { means: "The body is above the limit.", remedy: "`detail` names the limit. Send less." },
  "unsupported-media-type": {
    means: "Content-Type or Content-Encoding is not one that is read here.",
    remedy: "Send JSON as application/json, code as application/zip, uncompressed.",
  },
  misdirected: { means: "The connection is not for this host.", remedy: "Open a new connection to the host you mean." },
  "idempotency-mismatch": {
    means: "The Idempotency-Key was used with another body.",
    remedy: "Take a new key for a new request.",
  },
  "too-many-requests": {
    means: "Your share of something bounded is used up.",
    remedy: "Wait as long as Retry-After says.",
  },
  internal: { means: "A fault of the platform.", remedy: "Tell its operator the request id." },
  "function-failed": {
    means: "The function threw, ended, or answered something that is no answer. `reason` says which.",
    remedy: "Read its log: `GET …/logs`.",
  },
  unavailable: {
    means: "Something that the platform leans on is away, or a namespace is still being set up.",
    remedy: "Try again after Retry-After.",
  },
  timeout: {
    means: "The function did not answer within its time.",
    remedy: "Make it faster, or raise timeout_sec.",
  },
};
