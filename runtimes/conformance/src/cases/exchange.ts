import assert from "node:assert/strict";
import type { ConformanceCase } from "../conformance-case.js";
import type { CallOptions, Pod, RuntimeUnderTest } from "../pod.js";
import type { Reply } from "../wire-connection.js";

/** A case that is one request and what its reply must be. */
export interface Exchange {
  readonly id: string;
  readonly title: string;
  readonly only?: RuntimeUnderTest["language"];
  readonly target: string;
  readonly send?: CallOptions;
  readonly want: {
    readonly status: number;
    /** Value of `x-sless-fault`; there must be none when it is not given. */
    readonly fault?: string;
    /** Exact values; null for a header that must be absent. */
    readonly headers?: Readonly<Record<string, string | readonly string[] | null>>;
    /** Exact bytes or text. */
    readonly body?: string | Buffer;
    /** The body's value, as JSON. */
    readonly json?: unknown;
    /** For a fault: what its message or type must match. */
    readonly says?: RegExp;
  };
}

export const jsonOf = (reply: Reply): unknown => JSON.parse(reply.body.toString());

export const faultOf = (reply: Reply): string | undefined => reply.headers["x-sless-fault"]?.[0];

/** Checks that a reply is a fault, its body has the right shape, and says the right thing. */
export const checkFault = (reply: Reply, fault: string, says?: RegExp): void => {
  assert.equal(faultOf(reply), fault, reply.body.toString());
  assert.deepEqual(reply.headers["content-type"], ["application/json"]);
  const body = jsonOf(reply) as { errorType: string; errorMessage: string };
  assert.ok(body.errorType !== "", "errorType is empty");
  assert.equal(typeof body.errorMessage, "string");
  if (says !== undefined) assert.match(`${body.errorType}: ${body.errorMessage}`, says);
};

const checkHeaders = (reply: Reply, headers: NonNullable<Exchange["want"]["headers"]>): void => {
  for (const [name, value] of Object.entries(headers)) {
    const want = value === null ? undefined : Array.isArray(value) ? value : [value];
    assert.deepEqual(reply.headers[name], want, `header ${name}`);
  }
};

const checkBody = (reply: Reply, { body, json }: Exchange["want"]): void => {
  if (typeof body === "string") assert.equal(reply.body.toString(), body);
  else if (body !== undefined) assert.deepEqual(reply.body, body);
  if (json !== undefined) assert.deepEqual(jsonOf(reply), json);
};

export const exchange = ({ id, title, only, target, send, want }: Exchange): ConformanceCase => ({
  id,
  title,
  ...(only !== undefined && { only }),
  run: async (pod: Pod) => {
    const reply = await pod.call(target, send);
    assert.equal(reply.status, want.status, reply.body.toString("latin1").slice(0, 500));
    assert.deepEqual(reply.headers["x-sless-version-uid"], [pod.versionUid]);
    if (want.fault === undefined) assert.equal(faultOf(reply), undefined);
    else checkFault(reply, want.fault, want.says);
    checkHeaders(reply, want.headers ?? {});
    checkBody(reply, want);
  },
});
