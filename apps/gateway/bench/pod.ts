import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { announce } from "./measured-process.js";
import { VERSION_UID } from "./route.js";

/** A pod that answers at once, so that the benchmark measures what stands before it. */
const body = Buffer.from(JSON.stringify({ message: "hello", padding: "x".repeat(220) }));
const headers = [
  ...["content-type", "application/json", "content-length", String(body.length)],
  ...["x-sless-version-uid", VERSION_UID, "x-sless-run-ms", "0.1", "cache-control", "no-store"],
];

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => response.writeHead(200, headers).end(body));
});
server.listen(0, "127.0.0.1", () => announce((server.address() as AddressInfo).port));
