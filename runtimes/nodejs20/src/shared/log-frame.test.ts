import { describe, expect, it } from "@jest/globals";
import { encodeFrame, FrameDecoder, MAX_FRAME_TEXT_BYTES } from "./log-frame.js";
import type { LogFrame } from "./log-frame.js";

const frame: LogFrame = {
  stream: "stderr",
  level: "warn",
  whole: true,
  requestId: "r-1",
  text: Buffer.from("ä\nb"),
  dropped: 7,
};

describe("FrameDecoder", () => {
  it("gives back frames however the bytes are cut", () => {
    const bytes = Buffer.concat([encodeFrame(frame), encodeFrame({ ...frame, level: undefined, requestId: "" })]);
    const decoder = new FrameDecoder();
    const frames = [...bytes].flatMap((byte) => [...decoder.push(Buffer.from([byte]))]);
    expect(frames).toEqual([frame, { ...frame, level: undefined, requestId: "" }]);
  });

  it("security 17: gives up on bytes that are no frame, instead of waiting for as many as they claim", () => {
    const forged = encodeFrame(frame);
    forged.writeUInt32LE(MAX_FRAME_TEXT_BYTES + 1, 4);
    expect(() => [...new FrameDecoder().push(forged)]).toThrow(RangeError);
  });
});
