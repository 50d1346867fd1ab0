import { z } from "zod";

/** One thing that is wrong with a request's body or parameters. */
export const FieldError = z.object({
  pointer: z.string().meta({ description: "JSON pointer of the field, or the name of a query parameter or header." }),
  message: z.string(),
});
export type FieldError = z.infer<typeof FieldError>;

/** RFC 9457 problem details, with `error` for older clients. Every error of API and gateway has this form. */
export const Problem = z.object({
  type: z.string().meta({ description: "URI of a page about this kind of error.", example: "/errors#invalid-request" }),
  title: z.string(),
  status: z.int(),
  detail: z.string().meta({ description: "What happened, why, and what to do." }),
  error: z.string().meta({ description: "The same text as `detail`." }),
  request_id: z.string(),
  errors: z.array(FieldError).optional(),
  /** Reason of a condition, a limit, or a runtime's fault: machine-readable. */
  reason: z.string().optional(),
  error_type: z.string().optional().meta({ description: "Class of the function's own error." }),
});
export type Problem = z.infer<typeof Problem>;

/** Kinds of errors with their status and title; `type` of a problem is `/errors#<kind>`. */
export const PROBLEM_KINDS = {
  "invalid-request": { status: 400, title: "The request is not valid" },
  "invalid-json": { status: 400, title: "The body is not valid JSON" },
  "invalid-code": { status: 400, title: "The uploaded code can't be used" },
  unauthenticated: { status: 401, title: "No valid token" },
  forbidden: { status: 403, title: "Not allowed" },
  "not-found": { status: 404, title: "Not found" },
  "method-not-allowed": { status: 405, title: "Method not allowed" },
  "request-timeout": { status: 408, title: "The request came too slowly" },
  conflict: { status: 409, title: "Conflicts with what is there" },
  "already-exists": { status: 409, title: "Already exists" },
  expired: { status: 410, title: "No longer available" },
  "precondition-failed": { status: 412, title: "Changed meanwhile" },
  "too-large": { status: 413, title: "Too large" },
  "unsupported-media-type": { status: 415, title: "Media type not supported" },
  misdirected: { status: 421, title: "Wrong host" },
  "idempotency-mismatch": { status: 422, title: "Idempotency-Key used for another request" },
  "too-many-requests": { status: 429, title: "Too many requests" },
  "headers-too-large": { status: 431, title: "Request headers too large" },
  internal: { status: 500, title: "Internal error" },
  "not-implemented": { status: 501, title: "Not implemented" },
  "function-failed": { status: 502, title: "The function failed" },
  unavailable: { status: 503, title: "Not available now" },
  timeout: { status: 504, title: "Took too long" },
} as const;
export type ProblemKind = keyof typeof PROBLEM_KINDS;

/** Builds a problem body. `detail` says what happened, why, and what to do. */
export const makeProblem = (
  kind: ProblemKind,
  detail: string,
  requestId: string,
  extra: { errors?: FieldError[]; reason?: string; error_type?: string } = {},
): Problem => {
  const { status, title } = PROBLEM_KINDS[kind];
  return { type: `/errors#${kind}`, title, status, detail, error: detail, request_id: requestId, ...extra };
};
