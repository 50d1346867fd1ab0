import type { IncomingMessage } from "node:http";

export interface BodyReceiver {
  onBody(body: Buffer): void;
  /** Called once; the rest of the body is dropped unread. */
  onTooLarge(): void;
}

/** Collects a request's body up to a limit. A body that never ends is ended by its call's deadline. */
export const receiveBody = (request: IncomingMessage, maxBytes: number, receiver: BodyReceiver): void => {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    if (size > maxBytes) return;
    size += chunk.length;
    if (size > maxBytes) {
      chunks.length = 0;
      receiver.onTooLarge();
    } else {
      chunks.push(chunk);
    }
  });
  request.on("end", () => {
    if (size <= maxBytes) receiver.onBody(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size));
  });
};
