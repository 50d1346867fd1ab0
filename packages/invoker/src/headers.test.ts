import { describe, expect, it } from "@jest/globals";
import { createAnswerHeadReader, createRequestHeaderFilter, filterTrailers } from "./headers.js";

const raw = (...pairs: string[]): Buffer[] => pairs.map((text) => Buffer.from(text, "latin1"));

describe("createRequestHeaderFilter", () => {
  const filter = createRequestHeaderFilter({ also: ["x-real-ip"] });

  it("security 19: drops hop-by-hop headers and those that Connection nominates", () => {
    const headers = ["Connection", "close, X-Drop", "X-Drop", "1", "Keep-Alive", "5", "TE", "trailers", "X-Keep", "2"];
    expect(filter(headers, "close, X-Drop")).toEqual(["X-Keep", "2"]);
  });

  it.each(["x-sless-request-id", "X-SLESS-Caller", "x_sless_fault", "X-Sless_context", "x_sless-version-uid"])(
    "security 19: drops %s from a client",
    (name) => {
      expect(filter([name, "forged", "x-slesson", "kept"], undefined)).toEqual(["x-slesson", "kept"]);
    },
  );

  it("keeps duplicates, their order and their spelling", () => {
    const headers = ["Accept", "a", "Cookie", "c=1", "accept", "b"];
    expect(filter(headers, undefined)).toEqual(headers);
  });

  it("drops what is set anew and what the caller names", () => {
    expect(
      filter(["Host", "h", "Content-Length", "1", "Expect", "100-continue", "X-Real-IP", "::1"], undefined),
    ).toEqual([]);
  });

  it("gives the same verdicts when more names come than it remembers", () => {
    for (let index = 0; index < 3000; index++) filter([`X-Name-${index}`, "1"], undefined);
    expect(filter(["X-Sless-New", "1", "X-New", "2"], undefined)).toEqual(["X-New", "2"]);
  });
});

describe("createAnswerHeadReader", () => {
  const read = createAnswerHeadReader({ also: ["set-cookie"] });

  it("security 19: takes the platform's words out and drops every other x-sless header of a function", () => {
    const head = read(
      raw(
        "X-Sless-Version-Uid",
        "uid",
        "x-sless-run-ms",
        "12.5",
        "x-sless-fault",
        "timeout",
        "X_Sless_Version",
        "9",
        "A",
        "1",
      ),
    );
    expect(head).toMatchObject({ headers: ["A", "1"], versionUid: "uid", runMs: 12.5, fault: "timeout" });
  });

  it("D39: drops hop-by-hop and nominated headers, and keeps encoding and length", () => {
    const head = read(raw("Connection", "x-drop", "X-Drop", "1", "Content-Encoding", "gzip", "Content-Length", "20"));
    expect(head.headers).toEqual(["Content-Encoding", "gzip", "Content-Length", "20"]);
    expect(head.contentLength).toBe(20);
  });

  it("R17: passes on one Content-Type", () => {
    expect(read(raw("content-type", "application/json", "CONTENT-TYPE", "text/html")).headers).toEqual([
      "content-type",
      "application/json",
    ]);
  });

  it("R20: keeps Latin-1 bytes as they are", () => {
    expect(read(raw("X-Name", "Beno\u00eet")).headers[1]).toBe("Beno\u00eet");
  });

  it("keeps several cookies unless they are unwanted", () => {
    const cookies = raw("Set-Cookie", "a=1", "Set-Cookie", "b=2");
    expect(createAnswerHeadReader()(cookies).headers).toHaveLength(4);
    expect(read(cookies).headers).toHaveLength(0);
  });
});

describe("filterTrailers", () => {
  it("security 19: passes on trailers, but none that frame, route, or are the platform's", () => {
    const trailers = ["Checksum", "abc", "Content-Length", "5", "x-sless-fault", "busy", "Set-Cookie", "a=1"];
    expect(filterTrailers(trailers)).toEqual([["Checksum", "abc"]]);
  });
});
