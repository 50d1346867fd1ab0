import type { z } from "zod";
import { DeleteNamespaceQuery, ListQuery, LogsQuery, UploadQuery, WaitQuery } from "../common.js";
import type { ProblemKind } from "../problem.js";
import type { ComponentName } from "./components.js";

/** What an operation answers when it goes well. */
export interface Success {
  readonly status: number;
  readonly description: string;
  /** The body; `list` wraps it in a page. Absent: no body. */
  readonly body?: ComponentName;
  readonly list?: boolean;
  readonly mediaType?: string;
}

/** One operation of the REST API: the table that the document is made of, and that the API is tested against. */
export interface Operation {
  readonly id: string;
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  readonly path: string;
  readonly tag: "Account" | "Functions" | "Versions" | "Logs" | "Triggers" | "Namespaces";
  readonly summary: string;
  readonly description?: string;
  readonly query?: z.ZodObject;
  readonly headers?: readonly ("If-Match" | "If-None-Match" | "Idempotency-Key")[];
  readonly body?: ComponentName;
  readonly mediaType?: string;
  readonly bodyRequired?: boolean;
  readonly success: readonly Success[];
  /** Kinds of problems beside those that every operation may answer. */
  readonly problems: readonly ProblemKind[];
}

const NS = "/v1/namespaces/{ns}";
const WRITE_HEADERS = ["If-Match", "Idempotency-Key"] as const;
const WRITE_PROBLEMS = [
  "not-found",
  "conflict",
  "precondition-failed",
  "unsupported-media-type",
  "too-large",
  "idempotency-mismatch",
] as const;

interface ItemNames {
  readonly tag: "Functions" | "Triggers";
  readonly plural: string;
  readonly one: ComponentName & ("Function" | "Trigger");
  readonly create: ComponentName;
  readonly put: ComponentName;
  readonly patch: ComponentName;
}

const WAIT_TEXT =
  "With `wait`, a long poll: `ready` answers when the last write (or the `generation` named) is ready or has failed for good, `gone` when the item is deleted (204). The header `x-sless-wait` says how it ended: done, failed or timeout.";

const makeItemOperations = ({ tag, plural, one, create, put, patch }: ItemNames): Operation[] => {
  const noun = one.toLowerCase();
  const item = `${NS}/${plural}/{name}`;
  return [
    {
      id: `create${one}`,
      method: "post",
      path: `${NS}/${plural}`,
      tag,
      summary: `Create a ${noun}`,
      headers: ["Idempotency-Key"],
      body: create,
      success: [{ status: 201, description: "Created.", body: one }],
      problems: ["already-exists", "conflict", "unsupported-media-type", "too-large", "idempotency-mismatch"],
    },
    {
      id: `list${one}s`,
      method: "get",
      path: `${NS}/${plural}`,
      tag,
      summary: `List ${plural}`,
      description:
        "In order of name. A cursor stands for the list as it was at the first page; it expires in minutes (410).",
      query: ListQuery,
      success: [{ status: 200, description: "One page.", body: one, list: true }],
      problems: ["expired"],
    },
    {
      id: `get${one}`,
      method: "get",
      path: item,
      tag,
      summary: `Read a ${noun}, or wait for it`,
      description: WAIT_TEXT,
      query: WaitQuery,
      headers: ["If-None-Match"],
      success: [
        { status: 200, description: "As it is now.", body: one },
        { status: 204, description: "After `wait=gone`: it is gone." },
        { status: 304, description: "If-None-Match names what is there." },
      ],
      problems: ["not-found", "too-many-requests"],
    },
    {
      id: `replace${one}`,
      method: "put",
      path: item,
      tag,
      summary: `Replace a ${noun}'s settings`,
      description:
        tag === "Functions"
          ? "What is not named gets its default, but for the code, which stays unless `code_digest` names other. The pin of a rollback stays until the code changes."
          : "What is not named gets its default.",
      headers: WRITE_HEADERS,
      body: put,
      success: [{ status: 200, description: "As it is now.", body: one }],
      problems: WRITE_PROBLEMS,
    },
    {
      id: `patch${one}`,
      method: "patch",
      path: item,
      tag,
      summary: `Change some of a ${noun}'s settings`,
      description: "A JSON merge patch (RFC 7396): what is absent stays, null removes or restores the default.",
      headers: WRITE_HEADERS,
      body: patch,
      mediaType: "application/merge-patch+json",
      success: [{ status: 200, description: "As it is now.", body: one }],
      problems: WRITE_PROBLEMS,
    },
    {
      id: `delete${one}`,
      method: "delete",
      path: item,
      tag,
      summary: `Delete a ${noun}`,
      description: "Answers when the deletion has begun; `GET ?wait=gone` tells its end.",
      headers: ["If-Match"],
      success: [{ status: 204, description: "The deletion has begun." }],
      problems: ["not-found", "precondition-failed", "conflict"],
    },
  ];
};

const FUNCTION = `${NS}/functions/{name}`;

export const OPERATIONS: readonly Operation[] = [
  {
    id: "whoami",
    method: "get",
    path: "/v1/whoami",
    tag: "Account",
    summary: "Who the token speaks for",
    success: [{ status: 200, description: "The caller.", body: "WhoAmI" }],
    problems: [],
  },
  {
    id: "listRuntimes",
    method: "get",
    path: "/v1/runtimes",
    tag: "Account",
    summary: "Runtimes that functions may use",
    success: [{ status: 200, description: "All of them.", body: "Runtime", list: true }],
    problems: [],
  },
  {
    id: "deleteNamespace",
    method: "delete",
    path: NS,
    tag: "Namespaces",
    summary: "Delete a namespace with everything in it",
    query: DeleteNamespaceQuery,
    success: [{ status: 202, description: "The deletion has begun." }],
    problems: ["not-found"],
  },
  ...makeItemOperations({
    tag: "Functions",
    plural: "functions",
    one: "Function",
    create: "CreateFunction",
    put: "FunctionSettings",
    patch: "PatchFunction",
  }),
  {
    id: "uploadCode",
    method: "post",
    path: `${FUNCTION}/upload`,
    tag: "Functions",
    summary: "Upload a function's code",
    description:
      "The body is the zip itself. It is checked, stored and, unless `stage` is set, becomes the function's code: a new version is built and takes the calls once it is ready.",
    query: UploadQuery,
    headers: WRITE_HEADERS,
    mediaType: "application/zip",
    success: [{ status: 200, description: "Stored.", body: "UploadResult" }],
    problems: ["invalid-code", "too-many-requests", ...WRITE_PROBLEMS],
  },
  {
    id: "listVersions",
    method: "get",
    path: `${FUNCTION}/versions`,
    tag: "Versions",
    summary: "List a function's versions, newest first",
    success: [{ status: 200, description: "All that are kept.", body: "Version", list: true }],
    problems: ["not-found"],
  },
  {
    id: "rollback",
    method: "post",
    path: `${FUNCTION}/rollback`,
    tag: "Versions",
    summary: "Send all calls to an older version",
    description: "It holds until the code changes. Data and secrets are not rolled back.",
    headers: WRITE_HEADERS,
    body: "RollbackRequest",
    bodyRequired: false,
    success: [{ status: 200, description: "From where to where.", body: "RollbackResult" }],
    problems: WRITE_PROBLEMS,
  },
  {
    id: "getLogs",
    method: "get",
    path: `${FUNCTION}/logs`,
    tag: "Logs",
    summary: "Read or follow a function's log",
    description:
      "One JSON object a line, in order of time over all instances. An empty line is a sign of life. A stream ends with its token.",
    query: LogsQuery,
    success: [{ status: 200, description: "Lines.", body: "LogLine", mediaType: "application/x-ndjson" }],
    problems: ["not-found", "too-many-requests"],
  },
  ...makeItemOperations({
    tag: "Triggers",
    plural: "triggers",
    one: "Trigger",
    create: "CreateTrigger",
    put: "TriggerSettings",
    patch: "PatchTrigger",
  }),
];
