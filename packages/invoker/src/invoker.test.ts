import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { request } from "undici";
import { openFront, startScriptedRuntime, VERSION_UID, type Front, type ScriptedRuntime } from "./testing/index.js";

let front: Front;
let pod: ScriptedRuntime;
let other: ScriptedRuntime;

beforeEach(async () => {
  [front, pod, other] = await Promise.all([
    openFront(),
    startScriptedRuntime(VERSION_UID, { podUid: "a" }),
    startScriptedRuntime(VERSION_UID, { podUid: "b" }),
  ]);
});
afterEach(() => Promise.all([front.close(), pod.kill(), other.kill()]));

const post = async (body: string | Buffer, path = "/") => {
  const answer = await request(front.url + path, { method: "POST", body });
  const text = await answer.body.text();
  return { status: answer.statusCode, headers: answer.headers, text };
};

describe("invoke", () => {
  it("brings a call to the pod and its answer back", async () => {
    front.setEndpoints(pod.endpoint);
    const { status, text } = await post("hi", "/a%2Fb//c?x=1&x=2");
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      method: "POST",
      url: "/a%2Fb//c?x=1&x=2",
      body: "hi",
      headers: {
        "x-sless-request-id": "request-1",
        "x-sless-version-uid": VERSION_UID,
        "x-sless-deadline-ms": "10000",
        "x-sless-context": "e30",
      },
    });
    expect(front.results).toMatchObject([{ status: 200, attempts: 1, queueMs: 0, runMs: 1, fault: undefined }]);
  });
});
