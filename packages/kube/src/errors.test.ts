import { describe, expect, it } from "@jest/globals";
import {
  AlreadyExistsError,
  ConflictError,
  ForbiddenError,
  GoneError,
  InvalidError,
  KubeApiError,
  makeApiError,
  NotFoundError,
  parseStatus,
  ServerError,
  UnauthorizedError,
} from "./errors.js";

const statusOf = (code: number, reason: string, message = "m") => ({ code, reason, message, causes: [] });

describe("makeApiError", () => {
  it.each([
    [401, "Unauthorized", UnauthorizedError],
    [403, "Forbidden", ForbiddenError],
    [404, "NotFound", NotFoundError],
    [409, "AlreadyExists", AlreadyExistsError],
    [409, "Conflict", ConflictError],
    [410, "Expired", GoneError],
    [422, "Invalid", InvalidError],
    [429, "TooManyRequests", ServerError],
    [500, "InternalError", ServerError],
    [504, "Timeout", ServerError],
    [400, "BadRequest", KubeApiError],
  ])("%d %s is a %p", (code, reason, expected) => {
    const error = makeApiError("get Pod a/b", statusOf(code, reason));
    expect(error.constructor).toBe(expected);
    expect(error.message).toBe(`get Pod a/b: m (${code} ${reason})`);
    expect(error.name).toBe(expected.name);
  });

  it.each([
    ['pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0', true],
    ['pods "a" is forbidden: failed quota: q: must specify limits.memory', true],
    ['pods "a" is forbidden: User "x" cannot create resource', false],
  ])("recognises a quota's refusal: %s", (message, expected) => {
    const error = makeApiError("create Pod", statusOf(403, "Forbidden", message));
    expect((error as ForbiddenError).isQuotaExceeded).toBe(expected);
  });

  it("takes an immutable metadata.uid for the failed precondition that it is", () => {
    const causes = [{ reason: "FieldValueInvalid", field: "metadata.uid", message: "field is immutable" }];
    const refusal = { ...statusOf(422, "Invalid"), causes };
    expect(makeApiError("patch Pod", refusal)).toBeInstanceOf(ConflictError);
    const twoFaults = { ...refusal, causes: [...causes, { field: "spec.x" }] };
    expect(makeApiError("patch Pod", twoFaults)).toBeInstanceOf(InvalidError);
  });

  it("recognises a namespace that is going", () => {
    const causes = [{ reason: "NamespaceTerminating" }];
    const error = makeApiError("create Pod", { ...statusOf(403, "Forbidden"), causes });
    expect((error as ForbiddenError).isNamespaceTerminating).toBe(true);
  });
});

describe("parseStatus", () => {
  it("keeps causes and the time to wait", () => {
    const causes = [{ reason: "FieldValueInvalid", message: "must be positive", field: "spec.x", extra: 1 }];
    const body = {
      kind: "Status",
      code: 422,
      reason: "Invalid",
      message: "bad",
      details: { causes, retryAfterSeconds: 2 },
    };
    expect(parseStatus(body, 422)).toEqual({
      code: 422,
      reason: "Invalid",
      message: "bad",
      causes: [{ reason: "FieldValueInvalid", message: "must be positive", field: "spec.x" }],
      retryAfterSeconds: 2,
    });
  });

  it.each([
    [null],
    ["<html>"],
    [[]],
    [{ details: 5 }],
    [{ details: { causes: [null, 7], retryAfterSeconds: "soon" } }],
  ])("takes no harm from %p", (body) => {
    expect(parseStatus(body, 502)).toMatchObject({ code: 502, reason: "Unknown" });
  });

  it("bounds what it takes", () => {
    const body = { message: "x".repeat(100_000), details: { causes: Array.from({ length: 1000 }, () => ({})) } };
    const status = parseStatus(body, 500);
    expect(status.message).toHaveLength(4096);
    expect(status.causes).toHaveLength(32);
  });

  it("believes the code inside a 200 stream", () => {
    expect(parseStatus({ code: 410, reason: "Expired" }, 200).code).toBe(410);
  });
});
